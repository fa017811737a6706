import type { Lead } from '@leads/core/lead';

/** The query of a hand-written list: the listed columns of the newest 100 leads of a workspace. */
export const newestLeadsByHand = `
  SELECT id, name, phone, created_at, updated_at, campaign_id, user_id, host(ip) AS ip, address, state,
    region, country, status
  FROM lead WHERE workspace_id = $1 ORDER BY created_at DESC, id DESC LIMIT 100`;

/** A row of {@link newestLeadsByHand}. */
export interface ListedRow {
  id: string;
  name: string;
  phone: string;
  created_at: Date;
  updated_at: Date;
  campaign_id: string;
  user_id: string;
  ip: string | null;
  address: string | null;
  state: string | null;
  region: string | null;
  country: string | null;
  status: 'OnHold' | 'Approved' | 'Paid' | 'Trashed';
}

/** Maps a row to the schema of the route, without absent fields. */
export function toLeadByHand(row: ListedRow): Lead {
  const lead: Lead = {
    id: row.id,
    name: row.name,
    phone: row.phone,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    campaignId: row.campaign_id,
    userId: row.user_id,
    status: row.status,
  };
  for (const name of ['ip', 'address', 'state', 'region', 'country'] as const) {
    if (row[name] !== null) lead[name] = row[name];
  }
  return lead;
}
