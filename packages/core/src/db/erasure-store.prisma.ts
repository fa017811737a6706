import type { ErasableStore, ErasureTable, FoundCounts } from '../erasure/erase.ts';
import type { Erasure } from '../erasure/erasure.ts';
import { tracesOf } from '../erasure/lead-traces.ts';
import type { LeadQuarantine, QuarantinedLead } from '../lead/lead-quarantine.ts';
import type { Database } from './client.ts';
import { countLeads, deleteViews, eraseLeads, leadsPerTransaction } from './erase-leads.ts';
import { findLeads, findTexts, findViews, writtenTexts } from './find-erased.ts';
import { Prisma } from './generated/client.ts';
import { withoutNulls } from './without-nulls.ts';

/**
 * Creates the erasable store of leads in Postgres, with their histories and their unpublished events. It also holds saved
 * views that search for the person, and notes of other leads and of payments that contain the person's number or address.
 * It reads all leads and notes, page by page, since no index has every spelling of a phone number.
 */
export function createErasableLeads(database: Database): ErasableStore {
  return {
    async visit(isErased, options) {
      const leadIds = [...(await findLeads(database, isErased))];
      // Views and notes come first: an interrupted erasure finds the data of the leads again.
      const counts = { leads: 0, changes: 0, waitingEvents: 0, views: 0, notes: 0, payments: 0 };
      const viewIds = await findViews(database, isErased, leadIds);
      counts.views = viewIds.length;
      if (options.erase) await deleteViews(database, viewIds);
      for (const kind of ['notes', 'payments'] as const) {
        for (const { page, erase } of writtenTexts[kind]) {
          const ids = await findTexts(database, page, isErased, leadIds);
          counts[kind] += ids.length;
          if (options.erase && ids.length > 0) await database.select(erase(ids));
        }
      }
      for (let at = 0; at < leadIds.length; at += leadsPerTransaction) {
        const ids = leadIds.slice(at, at + leadsPerTransaction);
        const some = await (options.erase ? eraseLeads(database, ids) : countLeads(database, ids));
        counts.leads += some.leads;
        counts.changes += some.changes;
        counts.waitingEvents += some.waitingEvents;
      }
      return { counts, leadIds };
    },
  };
}

/** Creates the erasable store of quarantined leads, which Postgres rejected. */
export function createErasableQuarantine(quarantine: Pick<LeadQuarantine, 'list' | 'remove'>): ErasableStore {
  return {
    async visit(isErased, options) {
      const leadIds: string[] = [];
      let after: QuarantinedLead['lead'] | undefined;
      for (;;) {
        const piece = await quarantine.list(leadsPerTransaction, after);
        after = piece.at(-1)?.lead;
        if (after === undefined) break;
        const ids = piece.filter(({ lead }) => isErased(tracesOf(lead))).map(({ lead }) => lead.id);
        if (options.erase && ids.length > 0) await quarantine.remove(ids);
        leadIds.push(...ids);
      }
      return { counts: { quarantined: leadIds.length }, leadIds };
    },
  };
}

/** Creates the log of erasures in Postgres. */
export function createErasureTable({ select }: Pick<Database, 'select'>): ErasureTable {
  const read = async (where: Prisma.Sql) => {
    const rows = await select<{ [Field in keyof Erasure]: Erasure[Field] | null }>(Prisma.sql`
      SELECT id, workspace_id AS "workspaceId", keys, seal, at FROM erasure WHERE ${where} ORDER BY id`);
    return rows.map((row) => withoutNulls(row) as unknown as Erasure);
  };
  return {
    async write({ id, workspaceId, keys, seal, at }) {
      await select(Prisma.sql`
        INSERT INTO erasure (id, workspace_id, keys, seal, at, found)
        VALUES (${id}::uuid, ${workspaceId ?? null}::uuid, ${keys}::text[], ${seal}, ${at.toISOString()}::timestamptz, '{}')
        ON CONFLICT (id) DO NOTHING`);
    },
    read: () => read(Prisma.sql`true`),
    unfinished: () => read(Prisma.sql`finished_at IS NULL`),
    async finish(ids, counts: FoundCounts) {
      // A repeated erasure keeps the counts of the first run.
      const rows = await select<{ id: string }>(Prisma.sql`
        UPDATE erasure SET finished_at = now(), found = ${JSON.stringify(counts)}::jsonb
        WHERE id = ANY(${ids}::uuid[]) AND finished_at IS NULL RETURNING id`);
      return rows.map(({ id }) => id);
    },
  };
}
