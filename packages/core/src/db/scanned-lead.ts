import { detailFields } from '../lead/lead.schema.ts';
import { Prisma } from './generated/client.ts';
import { columnOf } from './lead-columns.ts';
import { shownPayoutText } from './payout-columns.ts';

const isoText = (time: string) => `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The time to call back in ISO 8601. Most leads have none. */
export const callbackColumn = isoText('callback_at');

/** The time at which the lead becomes Approved unless it is held, in ISO 8601. */
export const approvalColumn = isoText('approval_of_lead(approve_at, lead.created_at, campaign_id)');

/** The SQL expressions of fields whose column has another name or type. */
const expressions: Readonly<Record<string, string>> = {
  campaignCode: '(SELECT code FROM campaign WHERE campaign.id = lead.campaign_id)',
  ip: 'host(ip)',
  extra: 'extra::text',
  phoneE164: 'phone_e164',
  callbackAt: callbackColumn,
  approveAt: `CASE WHEN hold_reason IS NULL THEN ${approvalColumn} END`,
  payout: shownPayoutText,
};

/** The columns of {@link detailFields}, in the same order. */
export const scannedColumns = Prisma.raw(
  detailFields.map((name) => expressions[name] ?? columnOf(name)).join(', '),
);

/** The positions of times in {@link scannedColumns}. */
export const scannedTimes = ['createdAt', 'updatedAt'].map((name) =>
  detailFields.findIndex((field) => field === name),
);

/**
 * Formats a time of Postgres like `Date.toISOString`, but without creating a `Date`.
 *
 * @param time in UTC: `2026-01-31 09:30:00.5+00`, with up to 3 decimals of a second.
 */
export function isoFromPostgres(time: string): string {
  const seconds = '2026-01-31T09:30:00'.length;
  const decimals = time.slice(seconds, -'+00'.length);
  return `${time.slice(0, 10)}T${time.slice(11, seconds)}${decimals}${'.000'.slice(decimals.length)}Z`;
}
