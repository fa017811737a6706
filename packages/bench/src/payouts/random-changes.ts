import { batchLeadChanges } from '@leads/core/background/lead-change-batcher';
import {
  createCampaignStore,
  createHoldTimerStore,
  createLeadStore,
  createOverviewStore,
  createPaymentStore,
  createPayoutStore,
  createStatusAliasStore,
  createWorkspaceStore,
  type Database,
} from '@leads/core/db';
import { LeadsError } from '@leads/core/errors';
import { changeStatuses, editLead, importStatuses, type LeadToInsert } from '@leads/core/lead';
import { type LeadStatus, leadStatuses } from '@leads/core/lead/transitions';
import { uuidv7 as newId } from 'uuidv7';
import { withClient } from '../stack/database.ts';
import { type Random, randomOf } from './random.ts';
import { holdSeconds, type Tenant } from './tenants.ts';

const currencies = ['EUR', 'USD', 'JPY'];
export const firstMs = Date.parse('2026-03-01T00:00:00Z');
export const dayMs = 86_400_000;
export const quarterMs = 900_000;

/** The errors that a random change may have, because it does not look at its leads first. */
const refusals: ReadonlySet<string> = new Set([
  'conflict',
  'limit_reached',
  'not_found',
  'reason_required',
  'invalid_input',
] satisfies LeadsError['code'][]);

/** Where the changes happen. */
export interface ChangedWorkspaces {
  readonly databaseUrl: string;
  readonly database: Database;
  readonly tenants: readonly Tenant[];
  /** The leads were created within so many days. */
  readonly days: number;
  /** The maximum number of leads of one statement. */
  readonly maxBatch: number;
}

/** The number of requests of each kind that changed something. */
export type RequestCounts = Partial<Record<Kind, number>>;

/**
 * Makes random changes over several connections at once, until there are about `changes` of them. Each changed, created or
 * erased lead is one change.
 *
 * @param counts the requests of each kind are added to it.
 */
export async function changeAtRandom(
  where: ChangedWorkspaces,
  options: { changes: number; connections: number; seed: number; counts: RequestCounts },
): Promise<void> {
  const { changes, connections, seed, counts } = options;
  let done = 0;
  const run = async (worker: number) => {
    const random = randomOf(seed + worker);
    await using leads = batchLeadChanges(createLeadStore(where.database));
    const context: Context = { ...where, ...storesOf(where.database), leads, random };
    while (done < changes) {
      const kind = pickKind(random);
      const changed = await kinds[kind].change(context, random.pick(where.tenants)).catch(unlessRefused);
      done += changed;
      if (changed > 0) counts[kind] = (counts[kind] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, worker) => run(worker)));
}

/** Finishes all payments and cancellations. */
export async function finishPayments(database: Database): Promise<void> {
  const payments = createPaymentStore(database);
  while (await payments.step(stepLeads));
}

/** The tables that keep the histories of erased leads, for the recount. */
export async function keepErasedHistories(databaseUrl: string): Promise<void> {
  await withClient(databaseUrl, (client) =>
    client.query(`
      CREATE TABLE erased_lead AS SELECT * FROM lead WHERE false;
      CREATE TABLE erased_change AS SELECT * FROM lead_change WHERE false`),
  );
}

function storesOf(database: Database) {
  return {
    campaigns: createCampaignStore(database),
    overview: createOverviewStore(database),
    payments: createPaymentStore(database),
    payouts: createPayoutStore(database),
    timers: createHoldTimerStore(database),
    workspaces: createWorkspaceStore(database),
    statusAliases: createStatusAliasStore(database),
  };
}

type Context = ChangedWorkspaces &
  ReturnType<typeof storesOf> & {
    readonly leads: ReturnType<typeof batchLeadChanges>;
    readonly random: Random;
  };

/** The leads of one step of a payment, and of one approval of due leads. */
const stepLeads = 200;
const maxPaid = 100_000;
const concurrentEdits = 16;

/** The kinds of requests with their weights. Each returns the number of changes, which is a minimum for steps. */
const kinds = {
  created: { weight: 12, change: create },
  'status by single requests': { weight: 20, change: changeOneByOne },
  'status by a bulk request': { weight: 20, change: changeMany },
  'status by an import': { weight: 12, change: importMany },
  'payout of leads': { weight: 12, change: setLeadPayouts },
  'hold of leads': { weight: 6, change: holdLeads },
  'end of hold times': { weight: 6, change: endHoldTimes },
  'payout of campaigns': { weight: 5, change: setCampaignPayout },
  'payout of publishers': { weight: 7, change: setPublisherPayout },
  'payments begun': { weight: 3, change: pay },
  'payments cancelled': { weight: 2, change: cancelPayment },
  'steps of payments': { weight: 10, change: stepPayment },
  erased: { weight: 2, change: erase },
  aggregations: { weight: 4, change: aggregate },
} satisfies Record<string, { weight: number; change: (context: Context, tenant: Tenant) => Promise<number> }>;
type Kind = keyof typeof kinds;
const kindNames = Object.keys(kinds) as Kind[];
const totalWeight = kindNames.reduce((sum, name) => sum + kinds[name].weight, 0);

function pickKind(random: Random): Kind {
  let left = random.next() * totalWeight;
  const found = kindNames.find((name) => (left -= kinds[name].weight) < 0);
  return found ?? 'created';
}

function unlessRefused(error: unknown): number {
  if (error instanceof LeadsError && refusals.has(error.code)) return 0;
  throw error;
}

/** Half of all batches have one lead. */
const batchOf = ({ random, maxBatch }: Context, max = maxBatch) =>
  random.next() < 0.5 ? 1 : 1 + random.below(max);

function pickLeads({ random }: Context, { leadIds }: Tenant, count: number): string[] {
  return [...new Set(Array.from({ length: Math.min(count, leadIds.length) }, () => random.pick(leadIds)))];
}

const pickStatus = ({ random }: Context): LeadStatus =>
  random.next() < 0.4 ? 'Approved' : random.pick(leadStatuses);
const pickAmount = ({ random }: Context) =>
  random.pick(['0', '0.0001', '1.5', '12345678.1234', String(random.below(1000))]);
const pickPayout = (context: Context) => ({
  amount: pickAmount(context),
  currency: context.random.pick(currencies),
});

async function create(context: Context, { owner, userIds, campaignIds, leadIds }: Tenant): Promise<number> {
  const { random, leads, days } = context;
  const added = Array.from({ length: batchOf(context) }, (): LeadToInsert => {
    const createdAt = new Date(firstMs + random.below((days * dayMs) / quarterMs) * quarterMs);
    const campaignId = random.pick(campaignIds);
    return {
      id: newId(),
      workspaceId: owner.workspaceId,
      userId: random.pick(userIds),
      campaignId,
      source: 'crm',
      // A duplicate is trashed when it is created.
      status: random.next() < 0.95 ? 'OnHold' : 'Trashed',
      version: 1,
      name: 'Ada Lovelace',
      phone: '+44 20 7946 0958',
      // The overview lists the payouts of 20 sub-ids.
      s1: `click-${random.below(20)}`,
      createdAt,
      updatedAt: createdAt,
      approveAfterSeconds: campaignId === campaignIds[0] ? holdSeconds : undefined,
    };
  });
  await leads.insert(added);
  leadIds.push(...added.map(({ id }) => id));
  return added.length;
}

/** Edits leads by concurrent requests, some with another field. */
async function changeOneByOne(context: Context, tenant: Tenant): Promise<number> {
  const ids = pickLeads(context, tenant, batchOf(context, concurrentEdits));
  return edit(context, tenant, ids, () => ({
    status: pickStatus(context),
    reason: 'r',
    ...(context.random.next() < 0.3 && { city: String(context.random.below(1e6)) }),
  }));
}

async function setLeadPayouts(context: Context, tenant: Tenant): Promise<number> {
  const ids = pickLeads(context, tenant, batchOf(context, concurrentEdits));
  return edit(context, tenant, ids, () => ({
    payout: context.random.next() < 0.7 ? pickPayout(context) : null,
    reason: 'r',
  }));
}

async function holdLeads(context: Context, tenant: Tenant): Promise<number> {
  const ids = pickLeads(context, tenant, batchOf(context, concurrentEdits));
  return edit(context, tenant, ids, () =>
    context.random.next() < 0.5 ? { hold: true, reason: 'r' } : { hold: false },
  );
}

async function edit(
  { leads, workspaces }: Context,
  { owner }: Tenant,
  ids: readonly string[],
  patchOf: () => Parameters<typeof editLead>[3],
): Promise<number> {
  const edits = ids.map((id) =>
    editLead({ leads, workspaces }, owner, id, patchOf()).then(() => 1, unlessRefused),
  );
  return (await Promise.all(edits)).reduce((sum, changed) => sum + changed, 0);
}

async function changeMany(context: Context, tenant: Tenant): Promise<number> {
  const ids = pickLeads(context, tenant, batchOf(context));
  const change = { ids, status: pickStatus(context), reason: 'r' };
  const results = await changeStatuses(context.leads, tenant.owner, change);
  return results.filter((result) => 'version' in result).length;
}

/** Imports statuses. Some lines repeat a lead, and some imports are repeated under the same key. */
async function importMany(context: Context, tenant: Tenant): Promise<number> {
  const ids = pickLeads(context, tenant, batchOf(context));
  const lines = [...ids, ...ids.slice(0, 2)].map((id) => `${id},${pickStatus(context)},r`);
  const file = Buffer.from(['id,status,reason', ...lines].join('\n'));
  const options = { validate: () => [], idempotencyKey: newId() };
  let changed = 0;
  for (let attempt = 0; attempt < (context.random.next() < 0.2 ? 2 : 1); attempt++) {
    changed += (await importStatuses(context, tenant.owner, piecesOf(file), options)).changed;
  }
  return changed;
}

async function* piecesOf(file: Buffer) {
  yield file;
}

/** Makes hold times end, and approves due leads. */
async function endHoldTimes(context: Context, tenant: Tenant): Promise<number> {
  const ids = pickLeads(context, tenant, context.maxBatch);
  await withClient(context.databaseUrl, (client) =>
    client.query(
      `UPDATE lead SET approve_at = now() - interval '1 second' FROM (
        SELECT id FROM lead WHERE id = ANY ($1::uuid[]) AND approve_at IS NOT NULL ORDER BY id FOR NO KEY UPDATE
      ) AS locked WHERE lead.id = locked.id`,
      [ids],
    ),
  );
  return (await context.timers.approveDue(stepLeads)).approved;
}

async function setCampaignPayout(context: Context, { owner, campaignIds }: Tenant): Promise<number> {
  const { random, campaigns } = context;
  const payout = random.next() < 0.85 ? pickPayout(context) : null;
  await campaigns.update(owner.workspaceId, random.pick(campaignIds), () => ({ payout }));
  return 1;
}

async function setPublisherPayout(
  context: Context,
  { owner: { workspaceId }, userIds, campaignIds }: Tenant,
): Promise<number> {
  const { random, payouts } = context;
  const [campaignId, userId] = [random.pick(campaignIds), random.pick(userIds)];
  if (random.next() < 0.7) await payouts.set(workspaceId, campaignId, userId, pickPayout(context));
  else await payouts.remove(workspaceId, campaignId, userId);
  return 1;
}

async function pay(context: Context, { owner, userIds }: Tenant): Promise<number> {
  const { random, payments, days } = context;
  const day = random.below(days);
  const { payment } = await payments.create(
    {
      id: newId(),
      workspaceId: owner.workspaceId,
      userId: random.pick(userIds),
      createdBy: owner.userId,
      from: new Date(firstMs + day * dayMs),
      to: new Date(firstMs + (day + 1 + random.below(days)) * dayMs),
      currency: random.pick(currencies),
      date: '2026-06-01',
    },
    maxPaid,
  );
  return payment.total > 0 ? 1 : 0;
}

async function stepPayment({ payments, random }: Context): Promise<number> {
  return (await payments.step(1 + random.below(stepLeads))) ? 1 : 0;
}

async function cancelPayment(
  { payments, random }: Context,
  { owner: { workspaceId, userId } }: Tenant,
): Promise<number> {
  const listed = await payments.list({ workspaceId }, 100);
  if (listed.length === 0) return 0;
  const { id } = random.pick(listed);
  const cancelled = await payments.cancel({ workspaceId, id }, { userId, reason: 'r' });
  return cancelled?.isChanged === true ? 1 : 0;
}

/** Erases leads. Their histories are kept for the recount. */
async function erase(context: Context, { leadIds }: Tenant): Promise<number> {
  const { random, maxBatch } = context;
  const count = Math.min(batchOf(context, Math.ceil(maxBatch / 4)), Math.floor(leadIds.length / 4));
  const ids = Array.from({ length: count }, () => leadIds.splice(random.below(leadIds.length), 1)).flat();
  await withClient(context.databaseUrl, async (client) => {
    await client.query('BEGIN');
    await client.query('SELECT FROM lead WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE', [ids]);
    await client.query('INSERT INTO erased_lead SELECT * FROM lead WHERE id = ANY ($1::uuid[])', [ids]);
    await client.query(
      'INSERT INTO erased_change SELECT * FROM lead_change WHERE lead_id = ANY ($1::uuid[])',
      [ids],
    );
    await client.query('SELECT erase_leads($1::uuid[])', [ids]);
    await client.query('COMMIT');
  });
  return count;
}

async function aggregate({ overview, maxBatch }: Context): Promise<number> {
  return (await overview.aggregate(maxBatch * 5)) > 0 ? 1 : 0;
}
