import type { LeadPayout } from '../payout/payout.schema.ts';
import type { ChangedLead, LeadAfterChange, LeadStore } from '../lead/lead-store.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import {
  arrays,
  arrayValues,
  changeColumns,
  editableColumns,
  names,
  statusChangeColumns,
  statusColumns,
  stored,
} from './lead-columns.ts';
import { everyColumn, leadsById } from './lead-rows.ts';
import { storedPayout } from './payout-columns.ts';
import { noteTraceparents, traceparentsOf } from './traceparents.ts';

type LeadChanges = Pick<LeadStore, 'change' | 'changeInEach' | 'changeStatus' | 'changeStatusInEach'>;

/** Creates the part of the lead store that changes leads. */
export function createLeadChanges({ selectForEach }: Database): LeadChanges {
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

  const changeInEach: LeadChanges['changeInEach'] = async (workspaces) => {
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

  const changeStatusInEach: LeadChanges['changeStatusInEach'] = async (workspaces) => {
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
    return changed.map(leadsById);
  };

  return {
    async change(workspaceId, changes) {
      const [changed = new Map<string, LeadAfterChange>()] = await changeInEach([{ workspaceId, changes }]);
      return changed;
    },
    changeInEach,

    async changeStatus(workspaceId, change) {
      const [changed] = await changeStatusInEach([{ workspaceId, changes: [change] }]);
      return changed?.get(change.id);
    },
    changeStatusInEach,
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
