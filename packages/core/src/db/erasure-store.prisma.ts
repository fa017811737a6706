import { setTimeout as sleep } from 'node:timers/promises';
import type { ErasableStore, ErasureTable, FoundCounts } from '../erasure/erase.ts';
import type { Erasure, IsErased } from '../erasure/erasure.ts';
import {
  isAbout,
  type LeadTraces,
  tracesOf,
  tracesOfChange,
  tracesOfNote,
  tracesOfTexts,
} from '../erasure/lead-traces.ts';
import type { StoredLead } from '../lead/lead.ts';
import type { LeadQuarantine } from '../lead/lead-quarantine.ts';
import { maxLeadsPerAggregation } from '../overview/lead-count-aggregator.ts';
import { advisoryLocks } from './advisory-locks.ts';
import { firstId } from '../uuid.ts';
import type { Database, Transaction } from './client.ts';
import { Prisma } from './generated/client.ts';
import { createOverviewStore } from './overview-store.prisma.ts';
import { withoutNulls } from './without-nulls.ts';

/** The number of rows that one statement reads, and of leads that one transaction erases. */
const pageSize = 5_000;
const leadsPerTransaction = 500;

/** Replaces the text of a note about an erased person. The note stays, because other users may have replied to it. */
const erasedText = '[erased]';

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
      let after: string | undefined;
      for (;;) {
        const piece = await quarantine.list(leadsPerTransaction, after);
        after = piece.at(-1)?.lead.id;
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
      await select(Prisma.sql`
        UPDATE erasure SET finished_at = now(), found = ${JSON.stringify(counts)}::jsonb
        WHERE id = ANY(${ids}::uuid[]) AND finished_at IS NULL`);
    },
  };
}

/** Finds leads by their current data and by their histories. */
async function findLeads({ select }: Database, isErased: IsErased): Promise<Set<string>> {
  const found = new Set<string>();
  let after = { leadId: firstId, version: 0 };
  for (;;) {
    const changes = await select<ChangeRow>(Prisma.sql`
      SELECT lead_id AS "leadId", page.version, workspace_id AS "workspaceId", lead.created_at AS "createdAt", country,
        CASE WHEN fields ?| '{phone,email,extra}' THEN fields END AS fields
      FROM (
        SELECT * FROM lead_change WHERE (lead_id, version) > (${after.leadId}::uuid, ${after.version}::int)
        ORDER BY lead_id, version LIMIT ${pageSize}
      ) AS page JOIN lead ON lead.id = lead_id ORDER BY lead_id, page.version`);
    const last = changes.at(-1);
    if (last === undefined) break;
    after = last;
    for (const { leadId, workspaceId, createdAt, country, fields } of changes) {
      if (fields === null) continue;
      const lead = { id: leadId, workspaceId, createdAt, country: country ?? undefined };
      if (isErased(tracesOfChange(lead, fields))) found.add(leadId);
    }
  }
  for (let afterId = firstId; ; ) {
    const leads = await select<Record<string, unknown>>(Prisma.sql`
      SELECT id, workspace_id AS "workspaceId", created_at AS "createdAt", phone, phone_e164 AS "phoneE164", email,
        CASE WHEN extra::text LIKE '%@%' THEN extra::text END AS extra
      FROM lead WHERE id > ${afterId}::uuid ORDER BY id LIMIT ${pageSize}`);
    const rows = leads.map((row) => withoutNulls(row) as unknown as StoredLead);
    for (const lead of rows) if (isErased(tracesOf(lead))) found.add(lead.id);
    const last = rows.at(-1);
    if (last === undefined) return found;
    afterId = last.id;
  }
}

/** Finds the saved views whose name, search text or phone filter contains data of erased leads. */
async function findViews(
  { select }: Database,
  isErased: IsErased,
  leadIds: readonly string[],
): Promise<string[]> {
  const views = await select<{
    id: string;
    workspaceId: string;
    createdAt: Date;
    texts: string[];
  }>(Prisma.sql`
    SELECT id, workspace_id AS "workspaceId", created_at AS "createdAt",
      array_remove(ARRAY[name, filters->>'q', filters->>'phone'], NULL) AS texts
    FROM saved_view ORDER BY id`);
  const found = new Set(views.filter((view) => isErased(tracesOfTexts(view))).map(({ id }) => id));
  for (let at = 0; views.length > 0 && at < leadIds.length; at += leadsPerTransaction) {
    const rows = await select<object>(Prisma.sql`
      SELECT workspace_id AS "workspaceId", name, phone, phone_e164 AS "phoneE164" FROM lead
      WHERE id = ANY(${leadIds.slice(at, at + leadsPerTransaction)}::uuid[])`);
    for (const row of rows) {
      const lead = withoutNulls(row) as Pick<StoredLead, 'workspaceId' | 'name' | 'phone' | 'phoneE164'>;
      for (const { id, workspaceId, texts } of views) {
        if (workspaceId === lead.workspaceId && texts.some((text) => isAbout(text, lead))) found.add(id);
      }
    }
  }
  return [...found];
}

async function deleteViews({ select }: Database, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await select(Prisma.sql`DELETE FROM saved_view WHERE id = ANY(${ids}::uuid[]) RETURNING id`);
}

/** The texts of users that can contain data of a person: the statement of a page, and the one that erases some of them. */
const writtenTexts = {
  notes: [
    {
      page: (afterId: string) => Prisma.sql`
        SELECT id, lead_id AS "leadId", workspace_id AS "workspaceId", created_at AS "createdAt", text FROM lead_note
        WHERE id > ${afterId}::uuid ORDER BY id LIMIT ${pageSize}`,
      erase: (ids: readonly string[]) => Prisma.sql`
        UPDATE lead_note SET text = ${erasedText} WHERE id = ANY(${ids}::uuid[]) RETURNING id`,
    },
  ],
  payments: [
    {
      page: (afterId: string) => Prisma.sql`
        SELECT id, workspace_id AS "workspaceId", created_at AS "createdAt", note AS text FROM payment
        WHERE id > ${afterId}::uuid AND note IS NOT NULL ORDER BY id LIMIT ${pageSize}`,
      erase: (ids: readonly string[]) => Prisma.sql`
        UPDATE payment SET note = ${erasedText} WHERE id = ANY(${ids}::uuid[]) RETURNING id`,
    },
    {
      page: (afterId: string) => Prisma.sql`
        SELECT id, workspace_id AS "workspaceId", cancelled_at AS "createdAt", cancel_reason AS text FROM payment
        WHERE id > ${afterId}::uuid AND cancel_reason IS NOT NULL ORDER BY id LIMIT ${pageSize}`,
      erase: (ids: readonly string[]) => Prisma.sql`
        UPDATE payment SET cancel_reason = ${erasedText} WHERE id = ANY(${ids}::uuid[]) RETURNING id`,
    },
  ],
};

/** Finds the texts of leads that are kept, and of payments, which contain a phone number or an email address of the person. */
async function findTexts(
  { select }: Database,
  page: (afterId: string) => Prisma.Sql,
  isErased: IsErased,
  leadIds: readonly string[],
): Promise<string[]> {
  const contacts = await contactsOf({ select }, leadIds);
  const gone = new Set(leadIds);
  const found: string[] = [];
  for (let afterId = firstId; ; ) {
    const texts = await select<TextRow>(page(afterId));
    for (const text of texts) {
      if (text.leadId !== undefined && gone.has(text.leadId)) continue;
      const traces = tracesOfNote(text);
      const known = contacts.get(text.workspaceId);
      if (isErased(traces) || (known !== undefined && sharesContact(traces, known))) found.push(text.id);
    }
    const last = texts.at(-1);
    if (last === undefined) return found;
    afterId = last.id;
  }
}

/** Returns the complete phone numbers and the email addresses of leads, by workspace. */
async function contactsOf({ select }: Pick<Database, 'select'>, leadIds: readonly string[]) {
  const contacts = new Map<string, Set<string>>();
  for (let at = 0; at < leadIds.length; at += leadsPerTransaction) {
    const rows = await select<{ workspaceId: string; contacts: string[] }>(Prisma.sql`
      SELECT workspace_id AS "workspaceId", array_remove(ARRAY[phone_e164, lower(email)], NULL) AS contacts FROM lead
      WHERE id = ANY(${leadIds.slice(at, at + leadsPerTransaction)}::uuid[])`);
    for (const row of rows) {
      const known = contacts.get(row.workspaceId) ?? new Set();
      contacts.set(row.workspaceId, known);
      for (const contact of row.contacts) known.add(contact);
    }
  }
  return contacts;
}

function sharesContact({ phones, emails }: LeadTraces, known: ReadonlySet<string>): boolean {
  return (
    phones.some(({ e164 }) => e164 !== undefined && known.has(e164)) ||
    emails.some((email) => known.has(email.toLowerCase()))
  );
}

interface TextRow extends Record<string, unknown> {
  readonly id: string;
  /** The lead of a note. */
  readonly leadId?: string;
  readonly workspaceId: string;
  readonly createdAt: Date;
  readonly text: string;
}

interface ChangeRow {
  readonly leadId: string;
  readonly version: number;
  readonly workspaceId: string;
  readonly createdAt: Date;
  readonly country: string | null;
  readonly fields: Parameters<typeof tracesOfChange>[1] | null;
}

interface Counts {
  readonly leads: number;
  readonly changes: number;
  readonly waitingEvents: number;
}

async function countLeads({ select }: Database, ids: readonly string[]): Promise<Counts> {
  const [row] = await select<{ changes: number; waitingEvents: number }>(Prisma.sql`
    SELECT (SELECT count(*)::int FROM lead_change WHERE lead_id = ANY(${ids}::uuid[])) AS changes,
      (SELECT count(*)::int FROM (
          SELECT lead_ids FROM lead_outbox UNION ALL SELECT lead_ids FROM lead_event_log
        ) AS kept, unnest(lead_ids) AS lead_id
        WHERE lead_ids && ${ids}::uuid[] AND lead_id = ANY(${ids}::uuid[])) AS "waitingEvents"`);
  return { leads: ids.length, changes: row?.changes ?? 0, waitingEvents: row?.waitingEvents ?? 0 };
}

async function eraseLeads(database: Database, ids: readonly string[]): Promise<Counts> {
  await aggregateLeadCounts(database, ids);
  return database.transaction(async (tx) => {
    // Waits for, and then blocks, the publisher of outbox events and the aggregation of lead counts.
    await tx.$queryRaw`SELECT FROM (VALUES (1)) AS one, pg_advisory_xact_lock(${advisoryLocks.leadCounts})`;
    await tx.$queryRaw`SELECT FROM (VALUES (1)) AS one, pg_advisory_xact_lock(${advisoryLocks.outbox})`;
    await mergeIdentifyingS1(tx, ids);
    const [erased] = await tx.$queryRaw<{ leads: number; changes: number }[]>`
      SELECT erased_leads::int AS leads, erased_changes::int AS changes FROM erase_leads(${ids}::uuid[])`;
    return {
      leads: erased?.leads ?? 0,
      changes: erased?.changes ?? 0,
      waitingEvents: (await deleteEvents(tx, outboxTable, ids)) + (await deleteEvents(tx, logTable, ids)),
    };
  });
}

/** Aggregates lead counts until the `s1` of all the leads are counted by value. */
async function aggregateLeadCounts(database: Database, ids: readonly string[]): Promise<void> {
  const overview = createOverviewStore(database);
  for (let attempt = 1; attempt <= 50; attempt++) {
    while ((await overview.aggregate(maxLeadsPerAggregation)) > 0);
    const waiting = await database.select(Prisma.sql`
      SELECT FROM lead_tally_entry
      WHERE s1 && (SELECT coalesce(array_agg(s1), '{}') FROM lead WHERE id = ANY(${ids}::uuid[]) AND s1 IS NOT NULL)
      LIMIT 1`);
    if (waiting.length === 0) return;
    // Another process aggregates.
    await sleep(100);
  }
}

/** Moves the counts of an `s1` that only these leads have to `s1_others`, since the value may identify a person. */
async function mergeIdentifyingS1(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.$executeRaw`
    WITH gone AS (
      SELECT workspace_id, s1, count(*) AS leads FROM lead WHERE id = ANY(${ids}::uuid[]) AND s1 IS NOT NULL GROUP BY 1, 2
    ), own AS (
      SELECT workspace_id, s1 FROM gone
      WHERE leads >= (
        SELECT coalesce(sum(on_hold + trashed + paid + approved), 0) FROM lead_tally AS tally
        WHERE tally.workspace_id = gone.workspace_id AND of_id = gone.workspace_id AND kind = 's1' AND value = s1
      )
    ), taken AS (
      DELETE FROM lead_tally AS tally USING own
      WHERE tally.workspace_id = own.workspace_id AND kind = 's1' AND value = s1
      RETURNING tally.*
    )
    INSERT INTO lead_tally AS kept (workspace_id, of_id, kind, at, value, on_hold, trashed, paid, approved)
    SELECT workspace_id, of_id, 's1_others', at, '', sum(on_hold), sum(trashed), sum(paid), sum(approved)
    FROM taken GROUP BY workspace_id, of_id, at
    ON CONFLICT (workspace_id, of_id, kind, at, value) DO UPDATE SET
      on_hold = kept.on_hold + excluded.on_hold, trashed = kept.trashed + excluded.trashed,
      paid = kept.paid + excluded.paid, approved = kept.approved + excluded.approved`;
}

const outboxTable = { name: Prisma.sql`lead_outbox`, key: Prisma.sql`id` };
const logTable = { name: Prisma.sql`lead_event_log`, key: Prisma.sql`position` };

/**
 * Deletes the events of leads from a table. The position of a row of the log is that of its last event. If a row loses
 * events, those before them move to later positions: a reader may receive them again, and misses none.
 *
 * @returns the number of deleted events.
 */
async function deleteEvents(
  tx: Transaction,
  { name, key }: typeof outboxTable,
  ids: readonly string[],
): Promise<number> {
  const [row] = await tx.$queryRaw<{ events: number }[]>`
    WITH waiting AS (
      SELECT ${key} AS id, lead_id, version, place, lead_id = ANY(${ids}::uuid[]) AS is_gone
      FROM ${name}, unnest(lead_ids, versions) WITH ORDINALITY AS each (lead_id, version, place)
      WHERE lead_ids && ${ids}::uuid[]
    ), left_over AS (
      UPDATE ${name} SET lead_ids = others.lead_ids, versions = others.versions
      FROM (
        SELECT id, array_agg(lead_id ORDER BY place) AS lead_ids, array_agg(version ORDER BY place) AS versions
        FROM waiting WHERE NOT is_gone GROUP BY id
      ) AS others WHERE ${name}.${key} = others.id
    ), emptied AS (
      DELETE FROM ${name} WHERE ${key} IN (SELECT id FROM waiting GROUP BY id HAVING bool_and(is_gone))
    )
    SELECT count(*)::int AS events FROM waiting WHERE is_gone`;
  return row?.events ?? 0;
}
