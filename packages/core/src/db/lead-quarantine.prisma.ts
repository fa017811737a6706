import { fromLeadJson, type LeadJson, toLeadJson } from '../lead/lead-json.ts';
import type { LeadQuarantine, QuarantinedLead } from '../lead/lead-quarantine.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';

interface Row {
  readonly lead: LeadJson;
  readonly reason: string | null;
  readonly quarantinedAt: Date;
}

const columns = Prisma.sql`lead, reason, quarantined_at AS "quarantinedAt"`;
/**
 * The order of creation. An id that is derived from an Idempotency-Key has no time. Of two leads with one phone number, a
 * replay stores the older one as the original.
 */
const byAge = Prisma.sql`(lead->>'createdAt')::timestamptz, id`;

/** Creates the quarantine in Postgres. */
export function createLeadQuarantine({ select }: Database): LeadQuarantine {
  return {
    async add(given) {
      // ON CONFLICT DO UPDATE rejects a statement that has the same id twice.
      const leads = [...new Map(given.map((entry) => [entry.lead.id, entry])).values()];
      await select(Prisma.sql`
        INSERT INTO lead_quarantine (id, lead, reason)
        SELECT * FROM unnest(
          ${leads.map(({ lead }) => lead.id)}::uuid[],
          ${leads.map(({ lead }) => JSON.stringify(toLeadJson(lead)))}::jsonb[],
          ${leads.map(({ reason }) => reason ?? null)}::text[]
        )
        ON CONFLICT (id) DO UPDATE SET reason = excluded.reason`);
    },

    async list(limit, after) {
      const pastCursor =
        after === undefined
          ? Prisma.empty
          : Prisma.sql`WHERE (${byAge}) > (${after.createdAt.toISOString()}::timestamptz, ${after.id}::uuid)`;
      const rows = await select<Row>(Prisma.sql`
        SELECT ${columns} FROM lead_quarantine ${pastCursor} ORDER BY ${byAge} LIMIT ${limit}`);
      return rows.map(toQuarantined);
    },

    async find(ids) {
      const rows = await select<Row>(Prisma.sql`
        SELECT ${columns} FROM lead_quarantine WHERE id = ANY(${ids}::uuid[]) ORDER BY ${byAge}`);
      return rows.map(toQuarantined);
    },

    async remove(ids) {
      const rows = await select<{ id: string }>(Prisma.sql`
        DELETE FROM lead_quarantine WHERE id = ANY(${ids}::uuid[]) RETURNING id`);
      return rows.map(({ id }) => id).toSorted();
    },
  };
}

function toQuarantined({ lead, reason, quarantinedAt }: Row): QuarantinedLead {
  return { lead: fromLeadJson(lead), reason: reason ?? undefined, quarantinedAt };
}
