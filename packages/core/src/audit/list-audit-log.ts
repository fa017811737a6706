import { toRecord } from '../csv/index.ts';
import { pageLimit } from '../paging.ts';
import { parseTime } from '../parse-time.ts';
import { readTimePage } from '../time-page.ts';
import type { AuditEntryView, AuditQuery } from './audit.schema.ts';
import type { AuditPosition, AuditSelection, AuditStore, ListedAuditEntry } from './audit-log.ts';

type Filters = Omit<AuditQuery, 'limit' | 'cursor'>;

/**
 * Lists the audit log of a workspace, newest first.
 *
 * @returns the page, and the cursor of the next page if there is one.
 * @throws LeadsError `invalid_cursor`; `invalid_input` as {@link parseTime}
 */
export async function listAuditLog(
  store: AuditStore,
  workspaceId: string,
  { limit, cursor, ...filters }: AuditQuery,
): Promise<{ entries: AuditEntryView[]; nextCursor?: string }> {
  const selection = selectionOf(workspaceId, filters);
  const { entries, ...page } = await readTimePage(
    { limit, cursor },
    (max, after) => store.list(selection, max, after),
    (entry) => entry,
  );
  return { entries: entries.map(view), ...page };
}

const columns = [
  'id',
  'at',
  'action',
  'source',
  'actorId',
  'actorEmail',
  'apiKeyId',
  'address',
  'userAgent',
  'targetId',
] as const satisfies (keyof AuditEntryView)[];

/**
 * Returns all matching entries as CSV (RFC 4180), newest first. The details are JSON.
 *
 * @throws LeadsError `invalid_input` immediately, as {@link parseTime}.
 */
export function exportAuditLog(
  store: Pick<AuditStore, 'list'>,
  workspaceId: string,
  filters: Filters,
): AsyncGenerator<string, void, undefined> {
  return pieces(store, selectionOf(workspaceId, filters));
}

async function* pieces(
  store: Pick<AuditStore, 'list'>,
  selection: AuditSelection,
): AsyncGenerator<string, void, undefined> {
  yield toRecord([...columns, 'details']);
  let after: AuditPosition | undefined;
  for (;;) {
    const page = await store.list(selection, pageLimit.maximum, after);
    yield page
      .map(view)
      .map((entry) => toRecord([...columns.map((name) => entry[name] ?? ''), JSON.stringify(entry.details)]))
      .join('');
    after = page.at(-1);
    if (after === undefined || page.length < pageLimit.maximum) return;
  }
}

function selectionOf(workspaceId: string, { action, actorId, from, to }: Filters): AuditSelection {
  return {
    workspaceId,
    action,
    actorId,
    ...(from !== undefined && { from: parseTime(from, { at: 'query', path: 'from' }) }),
    ...(to !== undefined && { to: parseTime(to, { at: 'query', path: 'to' }) }),
  };
}

function view({ at, ...entry }: ListedAuditEntry): AuditEntryView {
  // The store omits absent columns, although its type allows undefined. The schema of the response omits the workspace.
  return { ...(entry as Omit<AuditEntryView, 'at'>), at: at.toISOString() };
}
