import type { FoundLead, StoredLead } from '../lead/lead.ts';
import type { LeadStatus } from '../lead/lead-status.ts';
import { newLeadFieldNames } from '../lead/lead-fields.ts';
import type { LeadPayout } from '../payout/payout.schema.ts';
import type { LeadScope } from '../lead/lead-scope.ts';
import type { LeadSearch } from '../lead/search.ts';
import type {
  BulkChange,
  ChangedLead,
  InsertOutcome,
  LeadAfterChange,
  LeadChange,
  LeadFilter,
  LeadEnd,
  LeadPage,
  PageBounds,
  LeadSelection,
  LeadStore,
  LeadToInsert,
  Traced,
} from '../lead/lead-store.ts';
import { firstId } from '../uuid.ts';
import type { Database } from './client.ts';
import { markDuplicates } from './duplicates.ts';
import { Prisma } from './generated/client.ts';
import {
  arrays,
  arrayValues,
  changeColumns,
  columnOf,
  editableColumns,
  leadColumns,
  names,
  parameters,
  statusChangeColumns,
  statusColumns,
  stored,
  valuesOf,
} from './lead-columns.ts';
import { approvalColumn, callbackColumn, isoTime, scannedColumns, scannedTimes } from './scanned-lead.ts';
import { expectedPayout, storedPayout } from './payout-columns.ts';
import { findDifferingLeads, findEarlierLeads } from './lead-repeats.ts';
import {
  type FoundSelection,
  matching,
  opposite,
  statementsOf,
  unfilteredStatement,
  valueColumns,
} from './lead-selection.ts';
import { boundedStatements, listedWith, writePage } from './listed-lead.ts';
import { withoutNulls } from './without-nulls.ts';

/** All fields but `state`, which comes last in exports. */
const fieldColumns = Prisma.raw(newLeadFieldNames.map((name) => `${columnOf(name)} AS "${name}"`).join(', '));

/** All columns of a lead, and the code of its campaign. */
export const everyColumn = Prisma.sql`
  id, workspace_id AS "workspaceId", campaign_id AS "campaignId",
  (SELECT code FROM campaign WHERE campaign.id = lead.campaign_id) AS "campaignCode", user_id AS "userId", source,
  status, name, phone, phone_e164 AS "phoneE164", ${fieldColumns}, state, host(ip) AS ip, s1, lp_name AS "lpName", extra::text AS extra, version,
  content_hash AS "contentHash", duplicate_of AS "duplicateOf", assignee_id AS "assigneeId", ${Prisma.raw(callbackColumn)} AS "callbackAt",
  ${Prisma.raw(approvalColumn)} AS "approveAt", hold_reason AS "holdReason",
  ${storedPayout} AS payout, ${expectedPayout} AS "expectedPayout",
  created_at AS "createdAt", updated_at AS "updatedAt"`;

/** The columns of a change in a lead's history. */
export const changeColumnsWithAliases = Prisma.sql`
  version, user_id AS "userId", reason, fields, created_at AS "createdAt",
  CASE WHEN to_status IS NOT NULL THEN json_build_object('from', from_status, 'to', to_status) END AS status`;

/** The minimum length of a text that finds campaigns, and the maximum number of campaigns. */
const minCampaignText = 3;
const maxSearchedCampaigns = 50;

/** Creates the lead store in Postgres. */
export function createLeadStore({ select, selectForEach, selectTexts, transaction }: Database): LeadStore {
  /** Finds the campaigns of a selection. Returns undefined if the workspace has no campaign with the code. */
  const found = async ({ scope, filter, order }: LeadSelection): Promise<FoundSelection | undefined> => {
    const { campaignCode, ...others } = filter;
    const selection = {
      scope,
      filter: { ...others, searchedCampaignIds: await campaignsOf(scope, filter) },
      order,
    };
    if (campaignCode === undefined) return selection;
    const [campaign] = await select<{ id: string }>(Prisma.sql`
      SELECT id FROM campaign WHERE workspace_id = ${scope.workspaceId}::uuid AND code = ${campaignCode}`);
    return campaign && { ...selection, filter: { ...selection.filter, campaignId: campaign.id } };
  };

  /** Returns the campaigns that a search finds. Shorter texts are the beginnings of too many words. */
  const searchCampaigns = async (
    { workspaceId }: LeadScope,
    search: LeadSearch,
  ): Promise<string[] | undefined> => {
    if (search.text.length < minCampaignText) return undefined;
    const campaigns = await select<{ id: string }>(Prisma.sql`
      SELECT id FROM campaign WHERE workspace_id = ${workspaceId}::uuid AND (
        starts_with(lower(code), lower(${search.text})) OR
        position(' ' || lower(${search.text}) IN ' ' || lower(name)) > 0
      ) ORDER BY code LIMIT ${maxSearchedCampaigns}`);
    return campaigns.length === 0 ? undefined : campaigns.map(({ id }) => id);
  };

  /** The campaigns that searches have found. An export reads thousands of pages by one search. */
  const searched = new WeakMap<LeadSearch, Promise<string[] | undefined>>();
  const campaignsOf = async (scope: LeadScope, { search }: LeadFilter) => {
    if (search === undefined) return undefined;
    const campaigns = searched.get(search) ?? searchCampaigns(scope, search);
    searched.set(search, campaigns);
    try {
      return await campaigns;
    } catch (error) {
      // With the same error for each later page, an export would stop the reads of all workspaces from a replica.
      searched.delete(search);
      throw error;
    }
  };

  const find = async (scope: LeadScope, ids: readonly string[]): Promise<FoundLead[]> => {
    const ofUser =
      scope.userId === undefined ? Prisma.empty : Prisma.sql`AND user_id = ${scope.userId}::uuid`;
    const rows = await select<Record<string, unknown>>(
      Prisma.sql`
        SELECT ${everyColumn} FROM (SELECT DISTINCT unnest(${ids}::uuid[]) AS asked_id) AS asked CROSS JOIN LATERAL (
          -- As in lockEach, a subquery makes Postgres look up each lead by its id.
          SELECT * FROM lead WHERE id = asked_id AND workspace_id = ${scope.workspaceId}::uuid ${ofUser} OFFSET 0
        ) AS lead`,
      {
        name: scope.userId === undefined ? 'find_leads' : 'find_leads_of_user',
        workspaceId: scope.workspaceId,
        isPlannedOnce: true,
      },
    );
    return rows.map((row) => withoutNulls(row) as unknown as FoundLead);
  };

  /** Writes the page of texts of {@link listedWith}. Leads that their texts do not represent are read again. */
  const toPage = async (scope: LeadScope, texts: readonly string[], hasMore: boolean): Promise<LeadPage> => {
    const written = writePage(texts, hasMore);
    if ('page' in written) return written.page;
    const again = new Map((await find(scope, written.unclearIds)).map((lead) => [lead.id, lead]));
    return (writePage(texts, hasMore, again) as { page: LeadPage }).page;
  };

  /** Runs a statement that locks leads for each of some workspaces. Returns the rows of each, in the order given. */
  const lockForEach = async <Row extends Record<string, unknown>>(
    text: string,
    turns: readonly { readonly workspaceId: string; readonly values: readonly unknown[] }[],
    name: string,
  ): Promise<readonly Row[][]> => {
    // Rows are locked in one order, since two changes of the same leads could deadlock otherwise.
    const inOrder = turns.toSorted((a, b) => (a.workspaceId < b.workspaceId ? -1 : 1));
    const rows = await selectForEach<Row>(text, inOrder, { name });
    return turns.map((turn) => rows[inOrder.indexOf(turn)] ?? []);
  };

  const changeInEach: LeadStore['changeInEach'] = async (workspaces) => {
    const all = workspaces.flatMap(({ changes }) => changes);
    const parents = traceparentsOf(all.map(({ lead: { id }, traceparent }) => ({ id, traceparent })));
    // Most changes are of the status only. Their statement has less to send, and less to write.
    const isOfStatus = all.every(({ change: { fields } }) => fields === undefined);
    const statements = workspaces.map(({ changes }) =>
      changing(changes, isOfStatus ? statusColumns : editableColumns, parents),
    );
    const changed = await lockForEach<{ id: string; updatedAt: Date; payout: LeadPayout | null }>(
      statements[0]?.text ?? '',
      workspaces.map(({ workspaceId }, at) => ({ workspaceId, values: statements[at]?.values ?? [] })),
      `change_${parents === undefined ? '' : 'traced_'}${isOfStatus ? 'statuses' : 'leads'}`,
    );
    return changed.map(
      (rows) =>
        new Map(rows.map(({ id, updatedAt, payout }) => [id, { updatedAt, payout: payout ?? undefined }])),
    );
  };

  const changeStatusInEach: LeadStore['changeStatusInEach'] = async (workspaces) => {
    const parents = traceparentsOf(workspaces.flatMap(({ changes }) => changes));
    const changed = await lockForEach<Record<string, unknown>>(
      parents === undefined ? statusChange.text : tracedStatusChange.text,
      workspaces.map(({ workspaceId, changes }) => ({
        workspaceId,
        values: [
          ...arrayValues(statusChangeColumns, changes),
          workspaceId,
          ...(parents === undefined ? [] : [parents]),
        ],
      })),
      `change_${parents === undefined ? '' : 'traced_'}any_statuses`,
    );
    return changed.map(
      (rows) =>
        new Map(rows.map((row) => withoutNulls(row) as unknown as FoundLead).map((lead) => [lead.id, lead])),
    );
  };

  return {
    async insert(given) {
      const earlier = await findEarlierLeads(select, given);
      const leads = earlier.size === 0 ? given : given.filter((lead) => !earlier.has(lead));
      const added = leads.some(isWatched)
        ? await transaction(async (tx) =>
            insert(
              ({ text, values }) => tx.$queryRawUnsafe(text, ...values),
              await markDuplicates(tx, leads),
            ),
          )
        : await insert((statement) => select(statement, { name: statement.name }), leads);
      // The usual case: no lead is repeated.
      if (added.length === given.length && added.every(({ id }, at) => id === given[at]?.id)) {
        return added.map((lead) => ({ result: 'added', lead }));
      }
      const addedById = new Map(added.map((lead) => [lead.id, lead]));
      const repeated: LeadToInsert[] = [];
      const outcomes = given.map((lead): InsertOutcome => {
        const { id, earlierId = id } = lead;
        if (earlier.has(lead)) return { result: 'repeated', id: earlierId };
        const addedLead = addedById.get(id);
        if (addedLead === undefined) {
          repeated.push(lead);
          return { result: 'repeated', id };
        }
        // If an id occurs twice, the first lead is the added one.
        addedById.delete(id);
        return { result: 'added', lead: addedLead };
      });
      const differing = await findDifferingLeads(select, repeated);
      return differing.size === 0
        ? outcomes
        : outcomes.map((outcome, at) =>
            differing.has(given[at] as LeadToInsert) ? { result: 'key_reused' } : outcome,
          );
    },

    async list(asked, { limit, after, before }) {
      const { scope } = asked;
      const selection = await found(before === undefined ? asked : reversed(asked));
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
      const selection = await found(asked);
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
        for (const at of scannedTimes) row[at] = isoTime(row[at] as string);
      }
      return rows;
    },

    async count(asked) {
      const selection = await found(asked);
      if (selection === undefined) return 0;
      const [row] = await select<{ count: number }>(
        Prisma.sql`SELECT count(*)::float8 AS count FROM lead_of_workspace WHERE ${matching(selection)}`,
        { workspaceId: asked.scope.workspaceId },
      );
      return row?.count ?? 0;
    },

    find,

    async change(workspaceId, changes) {
      const [changed = new Map<string, LeadAfterChange>()] = await changeInEach([{ workspaceId, changes }]);
      return changed;
    },
    changeInEach,

    async bulkChanges({ workspaceId, bulkId }, { limit, afterId = firstId }) {
      const rows = await select<Record<string, unknown>>(
        Prisma.sql`
          SELECT id, fields, reason_before AS "reasonBefore", status_now AS "statusNow", version,
            newest_bulk_id AS "newestBulkId", is_in_payment AS "isInPayment",
            CASE WHEN to_status IS NOT NULL THEN json_build_object('from', from_status, 'to', to_status) END AS status
          FROM changes_of_bulk(${bulkId}::uuid, ${afterId}::uuid, ${limit}::int) ORDER BY id`,
        { workspaceId },
      );
      return rows.map((row) => withoutNulls(row) as unknown as BulkChange);
    },

    async countBulkChanges({ workspaceId, bulkId }) {
      const [row] = await select<{ count: number }>(
        Prisma.sql`SELECT count(*)::float8 AS count FROM lead_change WHERE bulk_id = ${bulkId}::uuid`,
        { workspaceId },
      );
      return row?.count ?? 0;
    },

    async findBulkChanged({ workspaceId, bulkId }, ids) {
      const rows = await select<{ id: string }>(
        Prisma.sql`
          SELECT lead_id AS id FROM lead_change WHERE bulk_id = ${bulkId}::uuid AND lead_id = ANY(${ids}::uuid[])`,
        { workspaceId },
      );
      return new Set(rows.map(({ id }) => id));
    },

    async findStatusRequests(workspaceId, requestIds) {
      const rows = await select<{ requestId: string; leadId: string; status: LeadStatus }>(
        Prisma.sql`
          SELECT request_id AS "requestId", lead_id AS "leadId", to_status AS status
          FROM lead_change WHERE request_id = ANY(${requestIds}::uuid[])`,
        { workspaceId },
      );
      return new Map(rows.map(({ requestId, ...change }) => [requestId, change]));
    },

    async changeStatus(workspaceId, change) {
      const [changed] = await changeStatusInEach([{ workspaceId, changes: [change] }]);
      return changed?.get(change.id);
    },
    changeStatusInEach,

    async history({ id, workspaceId }, aboveVersion, limit, maxBytes) {
      const changes = Prisma.sql`
        SELECT * FROM lead_change WHERE lead_id = ${id}::uuid AND version > ${aboveVersion} ORDER BY version LIMIT ${limit}`;
      const page =
        maxBytes === undefined
          ? Prisma.sql`(${changes}) AS page`
          : Prisma.sql`(
              SELECT *, sum(bytes) OVER (ORDER BY version) - bytes AS bytes_before
              FROM (SELECT *, octet_length(changes::text) AS bytes FROM (${changes}) AS changes) AS sized
            ) AS page WHERE bytes_before < ${maxBytes}`;
      const rows = await select<Record<string, unknown>>(
        Prisma.sql`SELECT ${changeColumnsWithAliases} FROM ${page} ORDER BY version`,
        { workspaceId },
      );
      return rows.map((row) => withoutNulls(row) as unknown as LeadChange);
    },
  };
}

/**
 * Joins and locks each lead of `sent` that fulfills a condition. As a subquery, Postgres looks up each lead by its id. In a
 * join of the tables, it reads all leads of the workspace if it has no statistics of the table, and it keeps that plan.
 */
const lockEach = (condition: Prisma.Sql) => Prisma.sql`
  JOIN LATERAL (
    SELECT id, status, hold_reason, ${storedPayout} AS payout FROM lead WHERE id = sent.id AND ${condition} FOR NO KEY UPDATE
  ) AS lead ON lead.id = sent.id`;

/** Returns the statement that changes leads, and returns the ids and times of the changed ones. */
function changing(
  changes: readonly ChangedLead[],
  columns: typeof editableColumns,
  parents: string | undefined,
): Prisma.Sql {
  const leads = changes.map(({ lead }) => lead);
  const entries = changes.map(({ change }) => change);
  const noting = parents === undefined ? Prisma.empty : noteTraceparents(Prisma.sql`${parents}`);
  return Prisma.sql`
    WITH sent AS MATERIALIZED (
      SELECT sent.*, lead.payout FROM (
        SELECT * FROM unnest(
          ${leads.map((lead) => lead.id)}::uuid[], ${arrays(columns, leads)},
          ${arrays(changeColumns, entries)}, ${entries.map((entry) => entry.createdAt.toISOString())}::timestamptz[]
        ) AS sent (id, ${names(columns)}, ${names(changeColumns)}, changed_at) ${noting} ORDER BY id
      ) AS sent ${lockEach(Prisma.sql`version = sent.version - 1`)}
    ), changed (id, version, updated_at, payout, ${names(changeColumns)}) AS (
      UPDATE lead SET
        (${names(columns)}) = ROW (${stored(columns)}),
        approve_at = CASE WHEN sent.to_status IS NULL THEN lead.approve_at END,
        -- The clocks of two instances may differ, but the times in a history must not decrease.
        updated_at = GREATEST(sent.changed_at, lead.updated_at)
      FROM sent
      WHERE lead.id = sent.id AND lead.version = sent.version - 1
      RETURNING lead.id, lead.version, lead.updated_at, ${storedPayout}, ${stored(changeColumns)}
    ), noted AS (
      INSERT INTO lead_change (lead_id, version, created_at, ${names(changeColumns)})
      SELECT id, version, updated_at, ${names(changeColumns)} FROM changed
    )
    SELECT id, updated_at AS "updatedAt", payout FROM changed`;
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

/** Whether the campaign detects duplicates and the lead has a phone number to compare. */
function isWatched(lead: LeadToInsert): boolean {
  return lead.duplicateWindowSeconds !== undefined && lead.phoneE164 !== undefined;
}

interface InsertStatement {
  readonly name: string;
  readonly text: string;
  readonly values: (string | number | null)[];
}

/** The columns that are sent with a lead: its own, and its acting workspace. */
const sentColumns = {
  ...leadColumns,
  acting_workspace: { of: (lead: LeadToInsert) => lead.actingWorkspaceId },
};

/**
 * Sets the acting workspace of each row before Postgres inserts the row and checks it by row-level security. So one
 * statement stores leads of several workspaces, and each lead is limited to the workspace of its request. A row that is
 * inserted under the setting of another row is rejected.
 */
const actForEach = Prisma.sql`CROSS JOIN LATERAL (
  SELECT set_config('leads.workspace', sent.acting_workspace, true)) AS acting`;
/** Marks the leads as imported for the outbox triggers, in a setting of the transaction. */
const noteImport = Prisma.sql`CROSS JOIN (SELECT set_config('leads.importing', 'on', true)) AS importing`;
/** Passes the traceparents to the outbox triggers, in a setting of the transaction. */
export const noteTraceparents = (text: Prisma.Sql) =>
  Prisma.sql`CROSS JOIN (SELECT set_config('leads.trace_parents', ${text}, true)) AS trace_parents`;

/**
 * Builds the text of a change of statuses. The leads need not be read first: the statement checks their statuses when it
 * has locked them, and returns the changed leads.
 */
const changingStatus = (isTraced: boolean, returned = everyColumn) => {
  const sent = Object.keys(statusChangeColumns).length;
  const noting = isTraced ? noteTraceparents(Prisma.raw(`$${sent + 2}`)) : Prisma.empty;
  return Prisma.sql`
    WITH sent AS MATERIALIZED (
      SELECT sent.*, lead.status, lead.hold_reason, lead.payout FROM (
        SELECT * FROM unnest(${arrays(statusChangeColumns, [])}) AS sent (${names(statusChangeColumns)}) ${noting}
        ORDER BY id
      ) AS sent ${lockEach(
        Prisma.sql`workspace_id = ${Prisma.raw(`$${sent + 1}`)}::uuid AND status = ANY (sent.from_statuses::lead_status[])`,
      )}
    ), changed AS (
      UPDATE lead SET
        status = sent.to_status::lead_status,
        approve_at = NULL,
        hold_reason = NULL,
        version = lead.version + 1,
        -- The clocks of two instances may differ, but the times in a history must not decrease.
        updated_at = GREATEST(sent.changed_at, lead.updated_at)
      FROM sent
      WHERE lead.id = sent.id
      RETURNING lead.*, sent.user_id AS changed_by_id, sent.status AS from_status, sent.reason,
        with_payout_change(
          CASE WHEN sent.hold_reason IS NOT NULL
            THEN jsonb_build_object('holdReason', jsonb_build_object('from', sent.hold_reason)) END,
          sent.payout, ${storedPayout}
        ) AS changed_fields
    ), noted AS (
      INSERT INTO lead_change (lead_id, version, created_at, user_id, from_status, to_status, reason, fields)
      SELECT id, version, updated_at, changed_by_id, from_status, status, reason, changed_fields FROM changed
    )
    SELECT ${returned} FROM changed AS lead`;
};
const statusChange = changingStatus(false);
const tracedStatusChange = changingStatus(true);
/** Returns only ids, because to read whole leads takes longer than the rest of a large change. */
export const statusChangeOfMany = changingStatus(false, Prisma.sql`id`).text;

/**
 * Builds the texts of an insert, which returns the ids of the leads that were not added. Usually there are none, and to
 * parse the id of each added lead takes 2 us. The texts are built once, because building one takes longer than sending a
 * lead.
 */
const insertsWith = (columns: Parameters<typeof names>[0], acting: Prisma.Sql) => {
  const textOf = (rows: Record<'source' | 'ids', Prisma.Sql>, more = Prisma.empty) =>
    Prisma.sql`
      WITH added AS (
        INSERT INTO lead (${names(leadColumns)})
        SELECT ${stored(leadColumns)} FROM ${rows.source} AS sent (${names(columns)}) ${acting} ${more}
        ON CONFLICT (id) DO NOTHING
        RETURNING id
      )
      SELECT ${rows.ids} AS id EXCEPT SELECT id FROM added`.text;
  // The first column is the id.
  const many = {
    source: Prisma.sql`unnest(${arrays(columns, [])})`,
    ids: Prisma.raw('unnest($1::uuid[])'),
  };
  const one = { source: Prisma.sql`(VALUES (${parameters(columns)}))`, ids: Prisma.raw('$1::uuid') };
  const traced = noteTraceparents(Prisma.raw(`$${Object.keys(columns).length + 1}`));
  return {
    many: textOf(many),
    one: textOf(one),
    tracedMany: textOf(many, traced),
    tracedOne: textOf(one, traced),
  };
};
const plainInserts = insertsWith(leadColumns, Prisma.empty);
const actingInserts = insertsWith(sentColumns, actForEach);
const importingInserts = insertsWith(sentColumns, Prisma.sql`${actForEach} ${noteImport}`);

/** Returns the traceparents by lead id, as JSON; undefined if no lead is traced. */
export function traceparentsOf(leads: readonly (Traced & { readonly id: string })[]): string | undefined {
  // A fast path for every batch: nearly always no lead is traced.
  if (!leads.some(({ traceparent }) => traceparent !== undefined)) return undefined;
  const parents = leads.flatMap(({ id, traceparent }) =>
    traceparent === undefined ? [] : [[id, traceparent]],
  );
  return JSON.stringify(Object.fromEntries(parents));
}

function toStatement(leads: readonly LeadToInsert[]): InsertStatement {
  const isImport = leads.some(({ isImported }) => isImported === true);
  const isActing = isImport || leads.some(({ actingWorkspaceId }) => actingWorkspaceId !== undefined);
  const columns = isActing ? sentColumns : leadColumns;
  const parents = traceparentsOf(leads);
  const [lead, ...others] = leads;
  const isOne = lead !== undefined && others.length === 0;
  const kind = parents === undefined ? (isOne ? 'one' : 'many') : isOne ? 'tracedOne' : 'tracedMany';
  const values = isOne ? valuesOf(columns, lead) : arrayValues(columns, leads);
  return {
    name: `insert_leads_${isImport ? 'importing_' : isActing ? 'acting_' : ''}${kind}`,
    text: (isImport ? importingInserts : isActing ? actingInserts : plainInserts)[kind],
    values: parents === undefined ? values : [...values, parents],
  };
}

/** Inserts leads and returns those that were added. Leads whose id already exists are skipped. */
async function insert(
  run: (statement: InsertStatement) => Promise<{ id: string }[]>,
  given: readonly LeadToInsert[],
): Promise<readonly StoredLead[]> {
  if (given.length === 0) return [];
  // Sorted by id, since two calls with the same leads could deadlock otherwise. If an id occurs twice, the first lead wins.
  const leads = isAscending(given)
    ? given
    : [...new Map(given.toReversed().map((lead) => [lead.id, lead])).values()].toSorted((a, b) =>
        a.id < b.id ? -1 : 1,
      );
  const skipped = await run(toStatement(leads));
  if (skipped.length === 0) return leads;
  const ids = new Set(skipped.map(({ id }) => id));
  return leads.filter(({ id }) => !ids.has(id));
}

/** Whether the ids of leads ascend, as those of new leads do, and no id occurs twice. */
function isAscending(leads: readonly LeadToInsert[]): boolean {
  return leads.every(({ id }, at) => at === 0 || id > (leads[at - 1]?.id ?? ''));
}
