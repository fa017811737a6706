import type { StoredLead } from '../lead/lead.ts';
import type { InsertOutcome, LeadStore, LeadToInsert } from '../lead/lead-store.ts';
import type { Database, Transaction } from './client.ts';
import { markDuplicates } from './duplicates.ts';
import { Prisma } from './generated/client.ts';
import { arrays, arrayValues, leadColumns, names, parameters, stored, valuesOf } from './lead-columns.ts';
import { findDifferingLeads, findEarlierLeads } from './lead-repeats.ts';
import { noteTraceparents, traceparentsOf } from './traceparents.ts';

/** Creates the function that stores leads, as {@link LeadStore.insert}. */
export function createLeadInsert({ select, transaction }: Database): LeadStore['insert'] {
  return async (given) => {
    const earlier = await findEarlierLeads(select, given);
    const leads = earlier.size === 0 ? given : given.filter((lead) => !earlier.has(lead));
    const added = leads.some(isWatched)
      ? await transaction((tx) => insertMarked(tx, leads))
      : await insertNew((statement) => select(statement, { name: statement.name }), leads);
    // The usual case: no lead is repeated.
    if (added.length === given.length && added.every(({ id }, at) => id === given[at]?.id)) {
      return added.map((lead) => ({ result: 'added', lead }));
    }
    const addedById = new Map(added.map((lead) => [lead.id, lead]));
    const repeated: LeadToInsert[] = [];
    const outcomes = given.map((lead): InsertOutcome => {
      const { id, earlierId = id } = lead;
      if (earlier.has(lead)) return { result: 'repeated', id: earlierId };
      const addedLead = addedById.get(id);
      if (addedLead === undefined) {
        repeated.push(lead);
        return { result: 'repeated', id };
      }
      // If an id occurs twice, the first lead is the added one.
      addedById.delete(id);
      return { result: 'added', lead: addedLead };
    });
    const differing = await findDifferingLeads(select, repeated);
    return differing.size === 0
      ? outcomes
      : outcomes.map((outcome, at) =>
          differing.has(given[at] as LeadToInsert) ? { result: 'key_reused' } : outcome,
        );
  };
}

/** Whether the campaign detects duplicates and the lead has a phone number to compare. */
function isWatched(lead: LeadToInsert): boolean {
  return lead.duplicateWindowSeconds !== undefined && lead.phoneE164 !== undefined;
}

/**
 * Marks the duplicates among leads, inserts the leads and returns those that were added. A lead with an Idempotency-Key
 * may be stored already, which only its insert shows. If it was taken for the original of another lead, the insert is
 * rolled back, and the other leads are marked and inserted without it.
 */
async function insertMarked(tx: Transaction, given: readonly LeadToInsert[]): Promise<readonly StoredLead[]> {
  const run = ({ text, values }: InsertStatement) => tx.$queryRawUnsafe<{ id: string }[]>(text, ...values);
  let leads = firstOfEachId(given);
  for (;;) {
    const marked = await markDuplicates(tx, leads);
    const originals = new Set(marked.map(({ duplicateOf }) => duplicateOf));
    const unsure = marked.filter(({ id, contentHash }) => contentHash !== undefined && originals.has(id));
    if (unsure.length === 0) return insertNew(run, marked);
    await tx.$executeRaw`SAVEPOINT before_insert`;
    const added = await insertNew(run, marked);
    const ids = new Set(added.map(({ id }) => id));
    if (unsure.every(({ id }) => ids.has(id))) return added;
    await tx.$executeRaw`ROLLBACK TO SAVEPOINT before_insert`;
    leads = leads.filter(({ id }) => ids.has(id));
  }
}

/** Returns the leads without those whose id an earlier one has. */
function firstOfEachId(leads: readonly LeadToInsert[]): readonly LeadToInsert[] {
  const ids = new Set<string>();
  return leads.filter(({ id }) => ids.size < ids.add(id).size);
}

/** Inserts leads and returns those that were added. Leads whose id already exists are skipped. */
async function insertNew(
  run: (statement: InsertStatement) => Promise<{ id: string }[]>,
  given: readonly LeadToInsert[],
): Promise<readonly StoredLead[]> {
  if (given.length === 0) return [];
  // Sorted by id, since two calls with the same leads could deadlock otherwise. If an id occurs twice, the first lead wins.
  const leads = isAscending(given) ? given : firstOfEachId(given).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const skipped = await run(toStatement(leads));
  if (skipped.length === 0) return leads;
  const ids = new Set(skipped.map(({ id }) => id));
  return leads.filter(({ id }) => !ids.has(id));
}

/** Whether the ids of leads ascend, as those of new leads do, and no id occurs twice. */
function isAscending(leads: readonly LeadToInsert[]): boolean {
  return leads.every(({ id }, at) => at === 0 || id > (leads[at - 1]?.id ?? ''));
}

interface InsertStatement {
  readonly name: string;
  readonly text: string;
  readonly values: (string | number | null)[];
}

function toStatement(leads: readonly LeadToInsert[]): InsertStatement {
  const isImport = leads.some(({ isImported }) => isImported === true);
  const isActing = isImport || leads.some(({ actingWorkspaceId }) => actingWorkspaceId !== undefined);
  const columns = isActing ? sentColumns : leadColumns;
  const parents = traceparentsOf(leads);
  const [lead, ...others] = leads;
  const isOne = lead !== undefined && others.length === 0;
  const kind = parents === undefined ? (isOne ? 'one' : 'many') : isOne ? 'tracedOne' : 'tracedMany';
  const values = isOne ? valuesOf(columns, lead) : arrayValues(columns, leads);
  return {
    name: `insert_leads_${isImport ? 'importing_' : isActing ? 'acting_' : ''}${kind}`,
    text: (isImport ? importingInserts : isActing ? actingInserts : plainInserts)[kind],
    values: parents === undefined ? values : [...values, parents],
  };
}

/** The columns that are sent with a lead: its own, and its acting workspace. */
const sentColumns = {
  ...leadColumns,
  acting_workspace: { of: (lead: LeadToInsert) => lead.actingWorkspaceId },
};

/**
 * Sets the acting workspace of each row before Postgres inserts the row and checks it by row-level security. So one
 * statement stores leads of several workspaces, and each lead is limited to the workspace of its request. A row that is
 * inserted under the setting of another row is rejected.
 */
const actForEach = Prisma.sql`CROSS JOIN LATERAL (
  SELECT set_config('leads.workspace', sent.acting_workspace, true)) AS acting`;
/** Marks the leads as imported for the outbox triggers, in a setting of the transaction. */
const noteImport = Prisma.sql`CROSS JOIN (SELECT set_config('leads.importing', 'on', true)) AS importing`;

/**
 * Builds the texts of an insert, which returns the ids of the leads that were not added. Usually there are none, and to
 * parse the id of each added lead takes 2 us. The texts are built once, because building one takes longer than sending a
 * lead.
 */
const insertsWith = (columns: Parameters<typeof names>[0], acting: Prisma.Sql) => {
  const textOf = (rows: Record<'source' | 'ids', Prisma.Sql>, more = Prisma.empty) =>
    Prisma.sql`
      WITH added AS (
        INSERT INTO lead (${names(leadColumns)})
        SELECT ${stored(leadColumns)} FROM ${rows.source} AS sent (${names(columns)}) ${acting} ${more}
        ON CONFLICT (id) DO NOTHING
        RETURNING id
      )
      SELECT ${rows.ids} AS id EXCEPT SELECT id FROM added`.text;
  // The first column is the id.
  const many = {
    source: Prisma.sql`unnest(${arrays(columns, [])})`,
    ids: Prisma.raw('unnest($1::uuid[])'),
  };
  const one = { source: Prisma.sql`(VALUES (${parameters(columns)}))`, ids: Prisma.raw('$1::uuid') };
  const traced = noteTraceparents(Prisma.raw(`$${Object.keys(columns).length + 1}`));
  return {
    many: textOf(many),
    one: textOf(one),
    tracedMany: textOf(many, traced),
    tracedOne: textOf(one, traced),
  };
};
const plainInserts = insertsWith(leadColumns, Prisma.empty);
const actingInserts = insertsWith(sentColumns, actForEach);
const importingInserts = insertsWith(sentColumns, Prisma.sql`${actForEach} ${noteImport}`);
