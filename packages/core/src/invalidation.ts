import { type Static, Type } from 'typebox';

const Id = Type.String({ format: 'uuid' });

/** What has changed, by its ids, so that nobody goes on with what was cached of it. It holds no secrets. */
export const Invalidation = Type.Union([
  /** An API key, or an access token, was revoked. */
  Type.Object({ kind: Type.Literal('api_key'), id: Id }),
  Type.Object({ kind: Type.Literal('access_token'), id: Id }),
  /** A member has another role, or is none any more. */
  Type.Object({ kind: Type.Literal('member'), workspaceId: Id, userId: Id }),
  /** Leads of the workspace may go to other campaigns. */
  Type.Object({ kind: Type.Literal('routes'), workspaceId: Id }),
]);
export type Invalidation = Static<typeof Invalidation>;

/** Tells all instances of both services of a change. It does not fail: who is not told finds out within 10 s. */
export type Announce = (invalidation: Invalidation) => Promise<void>;
