import { duplicateStatus } from '../lead/lead-status.ts';
import type { LeadToInsert } from '../lead/lead-store.ts';
import { advisoryLocks } from './advisory-locks.ts';
import type { Transaction } from './client.ts';

/**
 * Only {@link maxLargeInserts} inserts with more phone numbers than this are in progress at a time. Postgres guarantees
 * room for 64 locks for each connection that it allows, which are 6,400 by default. Without the limit, many intakes that
 * drain their buffers would use up the room, and transactions of all workspaces would fail with 53200.
 */
const largeInsert = 16;
const maxLargeInserts = 4;

/**
 * Marks the duplicates among leads that this transaction is about to insert. The original is a lead that the campaign
 * received within its window, or an earlier lead of the same batch. Locks each campaign and phone number until the
 * transaction ends, so that only one of several concurrent leads is the original.
 */
export async function markDuplicates(
  tx: Transaction,
  leads: readonly LeadToInsert[],
): Promise<LeadToInsert[]> {
  const watched = new Map<string, { lead: LeadToInsert; phoneE164: string; since: string }>();
  for (const lead of leads) {
    const { phoneE164, duplicateWindowSeconds, createdAt } = lead;
    if (phoneE164 === undefined || duplicateWindowSeconds === undefined) continue;
    const since = new Date(createdAt.getTime() - duplicateWindowSeconds * 1000).toISOString();
    const key = keyOf(lead);
    if (!watched.has(key)) watched.set(key, { lead, phoneE164, since });
  }

  if (watched.size > largeInsert) await waitForTurn(tx);
  // Locks in a fixed order, since two transactions could deadlock otherwise.
  await tx.$queryRaw`
    SELECT count(pg_advisory_xact_lock(lock)) FROM (
      SELECT DISTINCT hashtextextended(key, 0) AS lock FROM unnest(${[...watched.keys()]}::text[]) AS key
      ORDER BY lock
    ) AS locks`;

  // A separate statement, because it must see the leads that were committed while this transaction waited for the locks.
  const all = [...watched.values()];
  const seen = await tx.$queryRaw<{ key: string; first: string }[]>`
    SELECT key, first FROM first_leads_of_phones(
      ${[...watched.keys()]}::text[],
      ${all.map(({ lead }) => lead.workspaceId)}::uuid[],
      ${all.map(({ lead }) => lead.campaignId)}::uuid[],
      ${all.map(({ phoneE164 }) => phoneE164)}::text[],
      ${all.map(({ since }) => since)}::timestamptz[]
    )`;

  const firsts = new Map(seen.map(({ key, first }) => [key, first]));
  return leads.map((lead) => {
    const key = keyOf(lead);
    if (!watched.has(key)) return lead;
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, lead.id);
    return first === undefined || first === lead.id
      ? lead
      : { ...lead, status: duplicateStatus, duplicateOf: first };
  });
}

/** Takes one of the locks of large inserts until the transaction ends. */
async function waitForTurn(tx: Transaction): Promise<void> {
  const first = advisoryLocks.largeInserts;
  const taken = await tx.$queryRaw<unknown[]>`
    SELECT true FROM generate_series(${first}::bigint, ${first + maxLargeInserts - 1}::bigint) AS number
    WHERE pg_try_advisory_xact_lock(number) LIMIT 1`;
  if (taken.length > 0) return;
  const number = first + Math.floor(Math.random() * maxLargeInserts);
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(${number}::bigint)`;
}

function keyOf({ campaignId, phoneE164 }: LeadToInsert): string {
  return `${campaignId}/${phoneE164}`;
}
