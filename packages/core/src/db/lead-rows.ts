import type { FoundLead } from '../lead/lead.ts';
import { leadFieldNames, newLeadFieldNames } from '../lead/lead-fields.ts';
import { Prisma } from './generated/client.ts';
import { columnOf } from './lead-columns.ts';
import { expectedPayout, storedPayout } from './payout-columns.ts';
import { approvalColumn, callbackColumn } from './scanned-lead.ts';
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

/** The expressions of the texts of a lead. A request can make them long. */
export const leadTexts = [
  'name',
  'phone',
  ...leadFieldNames.map(columnOf),
  's1',
  'lp_name',
  'extra::text',
  'hold_reason',
];

/**
 * About the number of bytes of a lead, as an expression: its texts, and 500 bytes for the other columns. The text of the
 * whole row would take Postgres twenty times as long.
 */
export const leadBytes = Prisma.raw(
  `(500 + ${leadTexts.map((text) => `coalesce(octet_length(${text}), 0)`).join(' + ')})`,
);

/** The columns of a change in a lead's history. */
export const changeColumnsWithAliases = Prisma.sql`
  version, user_id AS "userId", reason, fields, created_at AS "createdAt",
  CASE WHEN to_status IS NOT NULL THEN json_build_object('from', from_status, 'to', to_status) END AS status`;

/** Returns the lead of a row of {@link everyColumn}. */
export function toFoundLead(row: Record<string, unknown>): FoundLead {
  return withoutNulls(row) as unknown as FoundLead;
}

/** Returns the leads of rows of {@link everyColumn} by their ids. */
export function leadsById(rows: readonly Record<string, unknown>[]): Map<string, FoundLead> {
  return new Map(rows.map(toFoundLead).map((lead) => [lead.id, lead]));
}
