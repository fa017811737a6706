import { createHash } from 'node:crypto';
import pg from 'pg';
import { withClient } from '../stack/database.ts';
import { firstNames, lastNames } from './fill-names.ts';

/** Ids that are equal in every filled database. */
export const filled = {
  /** A workspace with 70 % of the leads. */
  large: entity('workspace', 0),
  owner: entity('user', 0),
  /** A member of the large workspace with 30 % of its leads. */
  publisher: entity('user', 1),
  /** The first small workspace, and its owner. */
  small: entity('workspace', 1),
  smallOwner: entity('user', 5),
} as const;

const smallWorkspaces = 300;
const chunk = 200_000;

/** Returns an id in the format of a UUIDv7, derived from a number. */
function entity(kind: 'workspace' | 'user' | 'campaign', number: number): string {
  const kinds = { workspace: '1', user: '2', campaign: '3' };
  return `0190000${kinds[kind]}-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

/** Returns the SQL expression of {@link entity}. */
const entitySql = (kind: 'workspace' | 'user' | 'campaign', number: string) =>
  `('${entity(kind, 0).slice(0, -12)}' || lpad(to_hex(${number}), 12, '0'))::uuid`;

/**
 * Fills a migrated, empty database with leads of two years, oldest first. The leads are deterministic and
 * unevenly distributed.
 * In the large workspace `Paid`, the source `crm`, the campaign `RARE` and the landing page `rare` are rare
 * and old. A scan from the newest lead takes long to find them.
 *
 * @param onProgress receives the number of stored leads.
 */
export async function fillLeads(
  databaseUrl: string,
  leads: number,
  onProgress: (stored: number) => void,
): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    // Leads are inserted without foreign keys and indexes. The data satisfies the foreign keys, and the
    // indexes are built at the end.
    await client.query(`SET session_replication_role = replica; SET maintenance_work_mem = '256MB'`);
    await client.query(tenants);
    const indexes = await client.query<{ name: string; definition: string }>(`
      SELECT indexname AS name, indexdef AS definition FROM pg_indexes
      WHERE tablename = 'lead' AND indexname <> 'lead_pkey' ORDER BY indexname`);
    for (const { name } of indexes.rows) await client.query(`DROP INDEX ${pg.escapeIdentifier(name)}`);
    for (let first = 1; first <= leads; first += chunk) {
      const last = Math.min(leads, first + chunk - 1);
      await client.query(`INSERT INTO lead (${columns}) ${leadRows}`, [
        first,
        last,
        leads,
        firstNames,
        lastNames,
      ]);
      onProgress(last);
    }
    for (const { definition } of indexes.rows) await client.query(definition);
    await client.query('VACUUM ANALYZE');
    await client.query('CHECKPOINT');
  });
}

/** Returns the SQL expressions of the payout of a campaign, in three currencies. */
const payoutSql = (campaign: string) => ({
  amount: `((${campaign}) % 20 + 0.25)`,
  currency: `(ARRAY['EUR', 'USD', 'JPY'])[1 + (${campaign}) % 3]`,
});

const tenants = `
  INSERT INTO workspace (id, name, slug)
  SELECT ${entitySql('workspace', 'n')}, 'Workspace ' || n, 'bench-' || n FROM generate_series(0, ${smallWorkspaces}) AS n;
  INSERT INTO "user" (id, name, email, updated_at)
  SELECT ${entitySql('user', 'n')}, 'User ' || n, 'user-' || n || '@example.com', now()
  FROM generate_series(0, ${smallWorkspaces + 4}) AS n;
  INSERT INTO member (id, workspace_id, user_id, role)
  SELECT gen_random_uuid(), ${entitySql('workspace', 'greatest(n - 4, 0)')}, ${entitySql('user', 'n')},
    CASE WHEN n BETWEEN 1 AND 4 THEN 'publisher' ELSE 'owner' END::member_role
  FROM generate_series(0, ${smallWorkspaces + 4}) AS n;
  -- Thirty-two campaigns for the large workspace, four for each small one.
  INSERT INTO campaign (id, workspace_id, code, name, is_default, updated_at, payout_amount, payout_currency)
  SELECT ${entitySql('campaign', 'n')}, ${entitySql('workspace', 'greatest(n - 28, 0) / 4')},
    CASE n WHEN 31 THEN 'RARE' ELSE 'C' || n END, 'Campaign ' || n, n = 0 OR (n >= 32 AND n % 4 = 0), now(),
    ${payoutSql('n').amount}, ${payoutSql('n').currency}
  FROM generate_series(0, ${32 + smallWorkspaces * 4 - 1}) AS n;`;

/** Returns an SQL expression for a pseudorandom number in [0, 1), derived from the lead's number. */
const draw = (seed: number) => `((hashint8extended(n, ${seed}) & 1048575) / 1048576.0)`;

const columns = `
  id, workspace_id, campaign_id, user_id, source, status, name, phone, phone_e164, address, email, country, state,
  ip, s1, lp_name, version, words, created_at, updated_at, payout_amount, payout_currency, payout_rule`;

/** The number of the campaign of a lead. */
const campaignOfLead = `CASE WHEN workspace > 0 THEN 28 + workspace * 4 + (u4 * 4)::int % 4
      WHEN is_old AND n % 2000 = 5 THEN 31 ELSE (31 * u4 ^ 3)::int % 31 END`;
/** Returns an expression that only approved and paid leads have. */
const ifPayable = (expression: string) => `CASE WHEN status IN ('Approved', 'Paid') THEN ${expression} END`;

/**
 * Selects the leads with the numbers $1 to $2 of $3; $4 and $5 are names. Numbers above $3 are newer than all
 * filled leads.
 */
const leadRows = `
  SELECT
    (lpad(to_hex((extract(epoch FROM created_at) * 1000)::bigint), 12, '0') || '7' || substr(hash, 1, 3) || '9'
      || substr(hash, 4, 15))::uuid,
    ${entitySql('workspace', 'workspace')},
    ${entitySql('campaign', campaignOfLead)},
    ${entitySql(
      'user',
      `CASE WHEN workspace > 0 THEN workspace + 4 WHEN is_old AND n % 2000 = 9 THEN 4
      WHEN u5 < 0.5 THEN 0 WHEN u5 < 0.8 THEN 1 WHEN u5 < 0.95 THEN 2 ELSE 3 END`,
    )},
    (CASE WHEN is_crm THEN 'crm' ELSE 'intake' END)::lead_source,
    status::lead_status,
    first || ' ' || last, phone, e164,
    CASE WHEN u6 < 0.4 THEN 1 + (u6 * 400)::int || ' ' || last || ' Street, London' END,
    email,
    CASE WHEN u6 > 0.3 THEN 'GB' END,
    CASE WHEN u6 > 0.6 THEN 'London' END,
    CASE WHEN NOT is_crm THEN inet '100.64.0.0' + (n % 4000000) END,
    CASE WHEN NOT is_crm THEN 'click-' || substr(hash, 1, 20) END,
    CASE WHEN is_crm THEN NULL WHEN is_old AND n % 2000 = 13 THEN 'rare'
      ELSE 'offer-' || (40 * u4 ^ 2)::int END,
    CASE status WHEN 'OnHold' THEN 1 ELSE 2 END,
    CASE WHEN e164 IS NULL OR phone LIKE '+%' THEN ARRAY[regexp_replace(phone, '[^0-9]', '', 'g')]
      ELSE ARRAY[regexp_replace(phone, '[^0-9]', '', 'g'), substr(e164, 2)] END
      || ARRAY[lower(first), lower(last)]
      || CASE WHEN email IS NULL THEN ARRAY[]::text[] ELSE string_to_array(replace(email, '@', '.'), '.') END,
    created_at,
    CASE status WHEN 'OnHold' THEN created_at ELSE least(created_at + u6 * interval '20 days', greatest(created_at, end_at)) END,
    ${ifPayable(payoutSql(campaignOfLead).amount)}, ${ifPayable(payoutSql(campaignOfLead).currency)},
    ${ifPayable(`'campaign'::payout_rule`)}
  FROM (
    SELECT *,
      lower(first) || '.' || lower(last) || (u3 * 1000)::int AS local_part,
      CASE WHEN u1 < 0.5 THEN lower(first) || '.' || lower(last) || (u3 * 1000)::int || '@'
        || (ARRAY['example', 'mail', 'post', 'home', 'office'])[1 + (u4 * 5)::int % 5] || '.io' END AS email,
      CASE WHEN u3 < 0.8 THEN '+44 20 ' || left(digits, 4) || ' ' || right(digits, 4)
        WHEN u3 < 0.95 THEN '020 ' || left(digits, 4) || ' ' || right(digits, 4)
        ELSE '20-' || digits END AS phone,
      CASE WHEN u3 < 0.95 THEN '+4420' || digits END AS e164
    FROM (
      SELECT n, u1, u3, u4, u5, u6, workspace, is_old, end_at,
        date_trunc('milliseconds', created_at) AS created_at,
        md5(n::text) AS hash,
        lpad((((hashint8extended(n, 8) & 1073741823) % 100000000))::text, 8, '0') AS digits,
        ($4::text[])[1 + (u1 * u1 * (cardinality($4::text[]) - 1))::int] AS first,
        ($5::text[])[1 + (u2 * u2 * (cardinality($5::text[]) - 1))::int] AS last,
        CASE workspace WHEN 0 THEN is_old AND n % 2000 = 17 ELSE u5 < 0.3 END AS is_crm,
        CASE WHEN is_old AND n % 2000 = 21 THEN 'Paid' WHEN u5 < 0.55 THEN 'OnHold' WHEN u5 < 0.85 THEN 'Approved'
          ELSE 'Trashed' END AS status
      FROM (
        SELECT n,
          ${draw(1)} AS u1, ${draw(2)} AS u2, ${draw(3)} AS u3, ${draw(4)} AS u4, ${draw(5)} AS u5, ${draw(6)} AS u6,
          CASE WHEN ${draw(7)} < 0.7 THEN 0 ELSE 1 + (${draw(9)} ^ 2 * ${smallWorkspaces - 1})::int END AS workspace,
          n <= $3::bigint / 2 AS is_old,
          timestamptz '2026-01-01' AS end_at,
          timestamptz '2026-01-01' - (($3::bigint - n) * (interval '730 days' / $3::bigint)) AS created_at
        FROM generate_series($1::bigint, $2::bigint) AS n
      ) AS drawn
    ) AS chosen
  ) AS spelled`;

/** A hash that changes with the filled data. */
export const fillVersion = createHash('sha256')
  .update([tenants, leadRows, ...firstNames, ...lastNames].join())
  .digest('hex')
  .slice(0, 12);
