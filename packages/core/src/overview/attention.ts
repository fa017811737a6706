import { type Static, Type } from 'typebox';
import { may } from '../credential/roles.ts';
import { dateTime, id } from '../fields.ts';
import type { Viewer } from '../lead/lead-scope.ts';

const dayMs = 86_400_000;
/** A credential is listed from this time before its expiry until the same time after it. */
const expiryMs = 7 * dayMs;
/** Only credentials that were used within this time before are listed. */
const useMs = 30 * dayMs;
const maxCredentials = 20;
/** Keys are listed for this time after one of their requests was rejected by a rate limit, or after they expired. */
const limitMs = dayMs;
/** Leads on hold are counted up to this number, because a workspace may have millions. */
const maxWaiting = 10_000;
/** Due call-backs are counted up to this number. Their index lacks the assignee, so each is read from the table. */
const maxCallbacks = 1_000;

const count = (description: string) => Type.Integer({ description, examples: [3] });

const RejectedKey = Type.Object({
  id: id('The API key.'),
  name: Type.String({ description: 'Its name.' }),
  member: Type.Optional(
    Type.String({ description: 'The name of its user. Absent for a key of the caller.' }),
  ),
  requests: count('The rejected requests among the last 1,000 requests of the key.'),
  lastAt: dateTime('When the last of them was rejected.'),
});

/** The items that need a member's attention. It has only items that the member can fix. */
export const Attention = Type.Object(
  {
    waiting: Type.Optional(
      Type.Object(
        {
          leads: count('The leads on hold, at most 10,000.'),
          isMore: Type.Boolean({ description: 'Whether there are more.' }),
          oldestAt: dateTime('When the oldest of them was created.'),
        },
        { description: 'Absent if no lead is on hold.' },
      ),
    ),
    callbacks: Type.Optional(
      Type.Object(
        {
          leads: count('The leads whose call-back is due, at most 1,000.'),
          isMore: Type.Boolean({ description: 'Whether there are more.' }),
          ofCaller: count('Those of them whose assignee is the caller.'),
          oldestAt: dateTime('When the earliest of them was due.'),
        },
        { description: 'Absent if no call-back is due, and for publishers.' },
      ),
    ),
    landingPages: Type.Object({
      unmapped: count('Approved landing pages without a campaign.'),
      pending: count('Landing pages that wait for approval.'),
      archived: count('Landing pages that are mapped to an archived campaign.'),
    }),
    credentials: Type.Array(
      Type.Object({
        id: id('The key or token.'),
        kind: Type.Enum(['apiKey', 'accessToken'], { description: 'What it is.' }),
        name: Type.String({ description: 'Its name.' }),
        member: Type.Optional(
          Type.String({ description: 'The name of its user. Absent for a credential of the caller.' }),
        ),
        expiresAt: dateTime('When it expires, or expired.'),
      }),
      {
        description:
          'Credentials that were used in the last 30 days and expire within 7 days, or expired within the last 7 days. A key that another key replaces is not listed.',
      },
    ),
    limited: Type.Array(RejectedKey, {
      description: 'API keys whose requests a rate limit has rejected within the last 24 hours.',
    }),
    rejected: Type.Array(RejectedKey, {
      description:
        'Expired API keys that clients still send: keys with rejected requests within the last 24 hours.',
    }),
  },
  { additionalProperties: false },
);
export type Attention = Static<typeof Attention>;

export interface ExpiringCredential {
  readonly id: string;
  readonly kind: 'apiKey' | 'accessToken';
  readonly name: string;
  readonly userId: string;
  readonly userName: string;
  readonly expiresAt: Date;
}

/** An API key with rejected requests. */
export interface RejectedKeyUse {
  readonly id: string;
  readonly name: string;
  readonly userId: string;
  readonly userName: string;
  readonly requests: number;
  readonly lastAt: Date;
}

interface CredentialScope {
  readonly workspaceId: string;
  readonly userId?: string | undefined;
}

/** The store of what needs attention. */
export interface AttentionStore {
  /** Counts the leads on hold, up to `max`. Returns undefined if there is none. */
  findWaiting(workspaceId: string, max: number): Promise<{ leads: number; oldestAt: Date } | undefined>;
  /** Counts the leads whose call-back is due, the earliest first, up to `max`. Returns undefined if there is none. */
  findCallbacks(
    caller: { readonly workspaceId: string; readonly userId: string },
    max: number,
  ): Promise<{ leads: number; ofCaller: number; oldestAt: Date } | undefined>;
  countLandingPages(workspaceId: string): Promise<Attention['landingPages']>;
  /** Lists credentials that expire in a span of time, were used since a time, and have no active replacement. */
  listExpiring(
    scope: CredentialScope,
    filter: {
      readonly from: Date;
      readonly to: Date;
      readonly usedSince: Date;
      readonly limit: number;
    },
  ): Promise<ExpiringCredential[]>;
  /** Lists active keys with requests in the request log that were answered with 429 since a time. */
  listLimited(scope: CredentialScope, since: Date, limit: number): Promise<RejectedKeyUse[]>;
  /** Lists keys that have expired, were not revoked, and have requests that were answered with 401 since a time. */
  listRejected(scope: CredentialScope, since: Date, limit: number): Promise<RejectedKeyUse[]>;
}

/** Returns what needs the attention of a member. A publisher gets its own credentials only. */
export async function getAttention(
  store: AttentionStore,
  { workspaceId, userId, role }: Viewer,
  nowMs = Date.now(),
): Promise<Attention> {
  const isManager = may(role, 'readAllLeads');
  const waiting = isManager ? await store.findWaiting(workspaceId, maxWaiting + 1) : undefined;
  const callbacks = isManager
    ? await store.findCallbacks({ workspaceId, userId }, maxCallbacks + 1)
    : undefined;
  const landingPages = isManager
    ? await store.countLandingPages(workspaceId)
    : { unmapped: 0, pending: 0, archived: 0 };
  const scope = { workspaceId, userId: isManager ? undefined : userId };
  const limited = await store.listLimited(scope, new Date(nowMs - limitMs), maxCredentials);
  const rejected = await store.listRejected(scope, new Date(nowMs - limitMs), maxCredentials);
  const isRejected = new Set(rejected.map(({ id: keyId }) => keyId));
  const withMember = ({ userId: of, userName, lastAt, ...key }: RejectedKeyUse) =>
    Object.assign(key, of === userId ? {} : { member: userName }, { lastAt: lastAt.toISOString() });
  const listed = await store.listExpiring(scope, {
    from: new Date(nowMs - expiryMs),
    to: new Date(nowMs + expiryMs),
    usedSince: new Date(nowMs - useMs),
    limit: maxCredentials,
  });
  const credentials = listed.filter((credential) => !isRejected.has(credential.id));
  return {
    ...(waiting !== undefined && {
      waiting: {
        leads: Math.min(waiting.leads, maxWaiting),
        isMore: waiting.leads > maxWaiting,
        oldestAt: waiting.oldestAt.toISOString(),
      },
    }),
    ...(callbacks !== undefined && {
      callbacks: {
        leads: Math.min(callbacks.leads, maxCallbacks),
        isMore: callbacks.leads > maxCallbacks,
        ofCaller: Math.min(callbacks.ofCaller, maxCallbacks),
        oldestAt: callbacks.oldestAt.toISOString(),
      },
    }),
    landingPages,
    // A key that clients still send is listed once.
    credentials: credentials.map(({ userId: of, userName, expiresAt, ...credential }) =>
      Object.assign(credential, of === userId ? {} : { member: userName }, {
        expiresAt: expiresAt.toISOString(),
      }),
    ),
    limited: limited.map(withMember),
    rejected: rejected.map(withMember),
  };
}
