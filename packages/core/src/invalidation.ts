import { type Static, Type } from 'typebox';

const Id = Type.String({ format: 'uuid' });

/** A change that outdates cached answers. It names the changed rows by id and holds no secrets. */
export const Invalidation = Type.Union([
  /** An API key, or an access token, was revoked. */
  Type.Object({ kind: Type.Literal('api_key'), id: Id }),
  Type.Object({ kind: Type.Literal('access_token'), id: Id }),
  /** A member changed roles or was removed. */
  Type.Object({ kind: Type.Literal('member'), workspaceId: Id, userId: Id }),
  /** Leads of the workspace may be routed to other campaigns. */
  Type.Object({ kind: Type.Literal('routes'), workspaceId: Id }),
]);
export type Invalidation = Static<typeof Invalidation>;

/** Broadcasts a change to all instances of both services. It never fails: caches expire within 10 s anyway. */
export type BroadcastInvalidation = (invalidation: Invalidation) => Promise<void>;
