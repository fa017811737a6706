import type { Lead } from '../lead/lead.schema.ts';
import { Prisma } from './generated/client.ts';

/**
 * What the list shows of a lead, in seven values instead of thirteen: node-postgres takes longer to read a value
 * than it takes to cut one up. No part of the first value holds a space but the times, one each.
 */
export const listedColumns = Prisma.sql`
  concat_ws(' ', id, campaign_id, user_id, status, created_at, updated_at, host(ip)),
  name, phone, address, state, region, country`;

/** The representation of a row of {@link listedColumns}, as Postgres writes its values; what is null is left out. */
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
 * A time as `Date.toISOString` writes it, without a Date, of which a page would take two hundred.
 *
 * @param time as Postgres writes it in UTC: `09:30:00.5+00`, with as many decimals of a second as it takes.
 */
function isoTime(date: string, time: string): string {
  const decimalsFrom = '09:30:00'.length;
  const decimals = time.slice(decimalsFrom, -'+00'.length);
  return `${date}T${time.slice(0, decimalsFrom)}${decimals}${'.000'.slice(decimals.length)}Z`;
}
