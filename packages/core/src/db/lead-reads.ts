import type { FoundLead } from '../lead/lead.ts';
import type { LeadScope } from '../lead/lead-scope.ts';
import type { LeadEnd, LeadPage, LeadSelection, LeadStore, PageBounds } from '../lead/lead-store.ts';
import type { Database } from './client.ts';
import { createFindSelection } from './find-selection.ts';
import { Prisma } from './generated/client.ts';
import { everyColumn, toFoundLead } from './lead-rows.ts';
import { opposite, valueColumns } from './lead-orders.ts';
import { matching, statementsOf, unfilteredStatement } from './lead-selection.ts';
import { boundedStatements, listedWith, writePage } from './listed-lead.ts';
import { isoFromPostgres, scannedColumns, scannedTimes } from './scanned-lead.ts';

type LeadReads = Pick<LeadStore, 'list' | 'scan' | 'count' | 'find'>;

/** Creates the part of the lead store that reads leads. */
export function createLeadReads(database: Database): LeadReads {
  const { select, selectTexts } = database;
  const findSelection = createFindSelection(database);

  const find = async (scope: LeadScope, ids: readonly string[]): Promise<FoundLead[]> => {
    const ofUser =
      scope.userId === undefined ? Prisma.empty : Prisma.sql`AND user_id = ${scope.userId}::uuid`;
    const rows = await select<Record<string, unknown>>(
      Prisma.sql`
        SELECT ${everyColumn} FROM (SELECT DISTINCT unnest(${ids}::uuid[]) AS asked_id) AS asked CROSS JOIN LATERAL (
          -- A subquery makes Postgres look up each lead by its id, as in lockEach of lead-changes.ts.
          SELECT * FROM lead WHERE id = asked_id AND workspace_id = ${scope.workspaceId}::uuid ${ofUser} OFFSET 0
        ) AS lead`,
      {
        name: scope.userId === undefined ? 'find_leads' : 'find_leads_of_user',
        workspaceId: scope.workspaceId,
        isPlannedOnce: true,
      },
    );
    return rows.map(toFoundLead);
  };

  /** Writes the page of texts of {@link listedWith}. Leads that their texts do not represent are read again. */
  const toPage = async (scope: LeadScope, texts: readonly string[], hasMore: boolean): Promise<LeadPage> => {
    const written = writePage(texts, hasMore);
    if ('page' in written) return written.page;
    const again = new Map((await find(scope, written.unclearIds)).map((lead) => [lead.id, lead]));
    return (writePage(texts, hasMore, again) as { page: LeadPage }).page;
  };

  return {
    async list(asked, { limit, after, before }) {
      const { scope } = asked;
      const selection = await findSelection(before === undefined ? asked : reversed(asked));
      if (selection === undefined) return toPage(scope, [], false);
      // One row beyond the page shows whether there are more leads in that direction.
      const bounds = { limit: limit + 1, after: after ?? before };
      const value = valueColumns[selection.order.by];
      const columns = listedWith(value);
      const read = async (query: Prisma.Sql, name?: string) => {
        const options = { workspaceId: scope.workspaceId };
        const [short, bounded] = boundedStatements(query, limit, value !== undefined);
        const shortRows = await selectTexts(short, { ...options, name });
        return shortRows.every(([text]) => text !== null) ? shortRows : selectTexts(bounded, options);
      };
      const plain = unfilteredStatement('list', columns, selection, bounds);
      const rows =
        plain === undefined
          ? await inSteps(statementsOf(columns, selection, bounds), bounds, read)
          : await read(plain.sql, plain.name);
      // A lead beyond the size of the page has no text.
      const texts = rows.slice(0, limit).flatMap(([text]) => text ?? []);
      const page = await toPage(
        scope,
        before === undefined ? texts : texts.toReversed(),
        rows.length > texts.length,
      );
      return value === undefined ? page : withValues(page, rows);
    },

    async scan(asked, page) {
      const selection = await findSelection(asked);
      if (selection === undefined) return [];
      const { workspaceId } = asked.scope;
      const plain = unfilteredStatement('export', scannedColumns, selection, page);
      const rows =
        plain === undefined
          ? await inSteps(statementsOf(scannedColumns, selection, page), page, (query) =>
              selectTexts(query, { workspaceId }),
            )
          : await selectTexts(plain.sql, { name: plain.name, workspaceId });
      for (const row of rows) {
        for (const at of scannedTimes) row[at] = isoFromPostgres(row[at] as string);
      }
      return rows;
    },

    async count(asked) {
      const selection = await findSelection(asked);
      if (selection === undefined) return 0;
      const [row] = await select<{ count: number }>(
        Prisma.sql`SELECT count(*)::float8 AS count FROM lead_of_workspace WHERE ${matching(selection)}`,
        { workspaceId: asked.scope.workspaceId },
      );
      return row?.count ?? 0;
    },

    find,
  };
}

/** Adds the values of the order to the ends of a page, from the second column of its rows. */
function withValues(page: LeadPage, rows: readonly (readonly (string | null)[])[]): LeadPage {
  const withValue = (end: LeadEnd): LeadEnd => ({
    ...end,
    value: rows.find(([text]) => text?.startsWith(end.id))?.[1] ?? undefined,
  });
  return { ...page, ends: page.ends && [withValue(page.ends[0]), withValue(page.ends[1])] };
}

function reversed({ order, ...selection }: LeadSelection): LeadSelection {
  return { ...selection, order: opposite(order) };
}

/** Returns the rows of the first statement if they reach the limit, else those of the second. */
async function inSteps<Row>(
  [near, far]: ReturnType<typeof statementsOf>,
  { limit }: PageBounds,
  run: (query: Prisma.Sql) => Promise<Row[]>,
): Promise<Row[]> {
  const found = await run(near);
  return far === undefined || found.length === limit ? found : run(far);
}
