import { earlierIdsSince } from '../lead/idempotency.ts';
import type { LeadToInsert } from '../lead/lead-store.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';

/*
 * Leads with an Idempotency-Key are compared with the stored leads by functions of the database, because the intake can
 * read no lead. Without such leads, no statement runs.
 */

type Select = Database['select'];

/** Returns the leads that the release before stored for the same requests, under their earlier ids. */
export async function findEarlierLeads(
  select: Select,
  leads: readonly LeadToInsert[],
): Promise<ReadonlySet<LeadToInsert>> {
  const sent = leads.filter(({ earlierId }) => earlierId !== undefined);
  return findIn(
    select,
    sent,
    () => Prisma.sql`
      SELECT position::int FROM earlier_leads(
        ${sent.map(({ earlierId }) => earlierId)}::uuid[],
        ${earlierIdsSince().toISOString()}::timestamptz,
        ${sent.map(({ userId }) => userId)}::uuid[],
        ${hashesOf(sent)}::text[],
        ${sent.map(({ source }) => source)}::text[],
        ${sent.map(({ name }) => name)}::text[],
        ${sent.map(({ phone }) => phone)}::text[],
        ${sent.map(({ address }) => address ?? null)}::text[],
        ${sent.map(({ s1 }) => s1 ?? null)}::text[],
        ${sent.map(({ lpName }) => lpName ?? null)}::text[],
        ${sent.map(({ extra }) => extra ?? null)}::text[]
      )`,
  );
}

/** Returns the leads whose ids are stored with other content. */
export async function findDifferingLeads(
  select: Select,
  leads: readonly LeadToInsert[],
): Promise<ReadonlySet<LeadToInsert>> {
  const sent = leads.filter(({ contentHash }) => contentHash !== undefined);
  return findIn(
    select,
    sent,
    () => Prisma.sql`
      SELECT position::int FROM differing_leads(${sent.map(({ id }) => id)}::uuid[], ${hashesOf(sent)}::text[])`,
  );
}

const hashesOf = (leads: readonly LeadToInsert[]) =>
  leads.map(({ contentHash }) => contentHash?.toString('hex') ?? null);

async function findIn(
  select: Select,
  sent: readonly LeadToInsert[],
  query: () => Prisma.Sql,
): Promise<ReadonlySet<LeadToInsert>> {
  if (sent.length === 0) return new Set();
  const positions = await select<{ position: number }>(query());
  return new Set(positions.flatMap(({ position }) => sent[position - 1] ?? []));
}
