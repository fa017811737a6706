import type { Lead } from '../lead/lead.schema.ts';
import { Prisma } from './generated/client.ts';

/**
 * The columns of a listed lead, in 7 values instead of 13, because node-postgres takes longer to read a value than to split
 * one. In the first value, no part contains a space except the times, with one each.
 */
export const listedColumns = Prisma.sql`
  concat_ws(' ', id, campaign_id, user_id, status, created_at, updated_at, host(ip)),
  name, phone, address, state, region, country`;

/** Converts a row of {@link listedColumns}, as texts of Postgres, to a lead. Null fields are omitted. */
export function toListedLead(row: readonly (string | null)[]): Lead {
  const [facts, name, phone, address, state, region, country] = row as [
    string,
    string,
    string,
    ...typeof row,
  ];
  const [id, campaignId, userId, status, createdOn, createdAt, updatedOn, updatedAt, ip] = facts.split(
    ' ',
  ) as [string, string, string, Lead['status'] & string, string, string, string, string, string?];
  const lead: Lead = {
    id,
    name,
    phone,
    createdAt: isoTime(createdOn, createdAt),
    updatedAt: isoTime(updatedOn, updatedAt),
    campaignId,
    userId,
    status,
  };
  if (ip !== undefined) lead.ip = ip;
  if (typeof address === 'string') lead.address = address;
  if (typeof state === 'string') lead.state = state;
  if (typeof region === 'string') lead.region = region;
  if (typeof country === 'string') lead.country = country;
  return lead;
}

/**
 * Formats a time like `Date.toISOString`, but without creating a `Date`, because a page would need 200 of them.
 *
 * @param time in UTC, in the format of Postgres: `09:30:00.5+00`, with up to 3 decimals of a second.
 */
function isoTime(date: string, time: string): string {
  const decimalsFrom = '09:30:00'.length;
  const decimals = time.slice(decimalsFrom, -'+00'.length);
  return `${date}T${time.slice(0, decimalsFrom)}${decimals}${'.000'.slice(decimals.length)}Z`;
}
