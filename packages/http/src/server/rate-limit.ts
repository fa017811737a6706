import { isBrowserKey, type Principal } from '@leads/core/credential';
import { LeadsError } from '@leads/core/errors';
import { addressBlock, type RateLimit, type RecentTenants, windowMs } from '@leads/core/limits';
import type { FastifyReply } from 'fastify';

/** The rate limits of a service. An absent limit means no limit. */
export interface RateLimits {
  /** Limits each API key that is not a browser key, and each signed-in user of the website. */
  readonly secretKeys?: RateLimit | undefined;
  readonly browserKeys?: RateLimit | undefined;
  /** Limits each visitor's address for each browser key, so that one visitor cannot use up the quota of the key. */
  readonly visitors?: RateLimit | undefined;
  /** Limits the API keys and the sessions of each publisher together, so that it cannot use up the quota of its workspace. */
  readonly publishers?: RateLimit | undefined;
  /** Limits all publishers of a workspace together, so that they leave requests to its owners and managers. */
  readonly allPublishers?: RateLimit | undefined;
  /** Limits all API keys and signed-in users of a workspace together. */
  readonly workspaces?: RateLimit | undefined;
  /** The workspaces that sent requests recently. */
  readonly recent?: RecentTenants | undefined;
}

/** The properties of a principal that its quotas depend on. A user of the website may have no workspace. */
type Caller = Pick<Principal, 'userId' | 'apiKeyId' | 'scope' | 'allowedOrigins'> &
  Partial<Pick<Principal, 'workspaceId' | 'role'>>;

/**
 * Counts a request against the quotas of its visitor, its API key, its publisher, all publishers and its workspace, in this
 * order. Sets the headers of the remaining quotas (draft-ietf-httpapi-ratelimit-headers). A request beyond one quota does not
 * count against the next ones.
 *
 * @param address the client's address.
 * @throws LeadsError `too_many_requests`
 */
export function limitRates(reply: FastifyReply, limits: RateLimits, caller: Caller, address: string): void {
  const { apiKeyId, userId, workspaceId, role } = caller;
  if (workspaceId !== undefined) limits.recent?.note(workspaceId);
  const sharer = apiKeyId ?? userId;
  const isBrowser = isBrowserKey(caller);
  const ofKey = isBrowser ? limits.browserKeys : limits.secretKeys;
  // Visitors are not counted for an exceeded key. Otherwise their number in memory would have no bound.
  if (isBrowser && limits.visitors !== undefined && ofKey?.isExceeded(sharer) !== true) {
    limitRate(reply, limits.visitors, {
      policy: 'visitor',
      key: `${sharer} ${addressBlock(address)}`,
      sender: 'from this address',
    });
  }
  limitRate(reply, ofKey, {
    policy: 'default',
    key: sharer,
    sender: apiKeyId === undefined ? 'by this user' : 'with this API key',
  });
  if (workspaceId === undefined) return;
  if (role === 'publisher') {
    limitRate(reply, limits.publishers, {
      policy: 'publisher',
      key: `${workspaceId} ${userId}`,
      sender: 'of this publisher',
    });
    limitRate(reply, limits.allPublishers, {
      policy: 'publishers',
      key: workspaceId,
      sender: 'of the publishers of this workspace',
    });
  }
  limitRate(reply, limits.workspaces, {
    policy: 'workspace',
    key: workspaceId,
    sender: 'of this workspace',
  });
}

/** Counts a request against one quota, if there is one. */
function limitRate(
  reply: FastifyReply,
  limit: RateLimit | undefined,
  { policy, key, sender }: { policy: string; key: string; sender: string },
): void {
  if (limit === undefined) return;
  const { isExceeded, remaining, resetMs } = limit.take(key);
  const seconds = Math.max(1, Math.ceil(resetMs / 1000));
  addToList(reply, 'ratelimit-policy', `"${policy}";q=${limit.perMinute};w=${windowMs / 1000}`);
  addToList(reply, 'ratelimit', `"${policy}";r=${remaining};t=${seconds}`);
  if (!isExceeded) return;
  throw new LeadsError('too_many_requests', {
    message: `Too many requests ${sender}: try again later`,
    retryAfterSeconds: seconds,
  });
}

/** Adds an item to a header that is a list (RFC 9651, 3.1). */
function addToList(reply: FastifyReply, name: string, item: string): void {
  const given = reply.getHeader(name);
  reply.header(name, given === undefined ? item : `${String(given)}, ${item}`);
}

/** The headers that {@link limitRates} sets, for the `headers` of a response in the OpenAPI document. */
export const rateLimitHeaders = {
  RateLimit: {
    type: 'string',
    description:
      "For each quota, the remaining requests (`r`), and the seconds until the quota resets (`t`). `visitor` is the quota of the client's address with a browser key, `default` is that of the API key, and `workspace` that of its workspace. `publisher` is that of all API keys and sessions of a publisher, and `publishers` that of all publishers of the workspace. Sent if there is a rate limit.",
  },
  'RateLimit-Policy': {
    type: 'string',
    description:
      'Each quota in requests (`q`) and its window in seconds (`w`). Sent if there is a rate limit.',
  },
} as const;
