import type { Principal } from '../credential/principal.ts';
import { may } from '../credential/roles.ts';
import { LeadsError } from '../errors.ts';
import { readTimePage } from '../time-page.ts';
import { uuidPattern } from '../uuid.ts';
import type { KeyUsage, RequestLogPage, RequestLogQuery } from './request-log.schema.ts';
import {
  type KeyOfWorkspace,
  type LoggedRequest,
  type RequestLogStore,
  utcDay,
} from './request-log-store.ts';
import { usageDays } from './request-log-retention.ts';

const dayMs = 86_400_000;

/**
 * Lists the newest requests of an API key, newest first. Owners and managers read those of all keys of the workspace,
 * publishers those of their own keys.
 *
 * @returns the page, and the cursor of the next page if there is one.
 * @throws LeadsError `not_found`, `invalid_cursor`
 */
export async function readRequestLog(
  store: RequestLogStore,
  principal: Principal,
  apiKeyId: string,
  { limit, cursor, ...filter }: RequestLogQuery,
): Promise<{ page: RequestLogPage; nextCursor?: string }> {
  const key = await requireKey(store, principal, apiKeyId);
  const { entries, ...next } = await readTimePage(
    { limit, cursor },
    (max, after) => store.list(key, filter, max, after),
    (request) => request,
  );
  const [today] = await store.usage(key, utcDay(new Date()));
  return { page: { requests: entries.map(view), unlistedToday: today?.unlisted ?? 0 }, ...next };
}

/** Returns the requests of an API key by day, for the last 90 days, oldest first. @throws LeadsError `not_found` */
export async function readKeyUsage(
  store: RequestLogStore,
  principal: Principal,
  apiKeyId: string,
): Promise<KeyUsage> {
  const key = await requireKey(store, principal, apiKeyId);
  const days = await store.usage(key, utcDay(new Date(Date.now() - (usageDays - 1) * dayMs)));
  return { days };
}

function view({ at, apiKeyId: _key, code, ...request }: LoggedRequest): RequestLogPage['requests'][number] {
  return { ...request, ...(code !== undefined && { code }), at: at.toISOString() };
}

async function requireKey(
  store: RequestLogStore,
  { workspaceId, userId, role }: Principal,
  apiKeyId: string,
): Promise<KeyOfWorkspace> {
  const key = { workspaceId, apiKeyId, ...(!may(role, 'manageCredentials') && { userId }) };
  if (!uuidPattern.test(apiKeyId) || !(await store.hasKey(key))) throw new LeadsError('not_found');
  return key;
}
