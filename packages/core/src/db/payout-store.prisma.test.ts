import { beforeEach, describe, expect, test } from 'vitest';
import { addTenant, changeOf, leadOf, type Tenant } from '../../test/database.ts';
import { openTestDatabase } from '../../test/open-test-database.ts';
import { type StoredLead, toLeadDetail } from '../lead/lead.ts';
import { type LeadStatus, leadStatuses } from '../lead/lead-transitions.ts';
import { paymentFailures } from '../payout/payment.schema.ts';
import type { LeadPayout } from '../payout/payout.schema.ts';
import { newId } from '../uuid.ts';
import { createCampaignStore } from './campaign-store.prisma.ts';
import { createLeadStore } from './lead-store.prisma.ts';
import { createPaymentStore } from './payment-store.prisma.ts';
import { createPayoutStore } from './payout-store.prisma.ts';

const [testDatabase, database] = await openTestDatabase();
let tenant: Tenant;
/** A second member of the workspace. */
let publisherId: string;

beforeEach(async () => {
  tenant = await addTenant(testDatabase, newId());
  publisherId = newId();
  await testDatabase.query(`
    INSERT INTO "user" (id, name, email, updated_at) VALUES ('${publisherId}', 'P', '${publisherId}@example.io', now());
    INSERT INTO member (id, workspace_id, user_id, role)
    VALUES ('${newId()}', '${tenant.workspaceId}', '${publisherId}', 'publisher');`);
});

const stores = () => ({
  leads: createLeadStore(database),
  payouts: createPayoutStore(database),
  campaigns: createCampaignStore(database),
});
const eur = (amount: string, rule: LeadPayout['rule']): LeadPayout => ({ amount, currency: 'EUR', rule });
const setCampaignPayout = (amount: string, currency = 'EUR', id = tenant.campaignId) =>
  stores().campaigns.update(tenant.workspaceId, id, () => ({ payout: { amount, currency } }));
const setPublisherPayout = (amount: string, currency = 'EUR', id = tenant.campaignId) =>
  stores().payouts.set(tenant.workspaceId, id, publisherId, { amount, currency });

const find = async (id: string) => {
  const [lead] = await stores().leads.find({ workspaceId: tenant.workspaceId }, [id]);
  if (lead === undefined) throw new Error('The lead is stored');
  return lead;
};
const shown = async (id: string) => toLeadDetail(await find(id)).payout;

/** Changes the status of a stored lead by each statement that the services use. */
const ways = {
  changeStatus: async (id: string, to: LeadStatus, reason?: string) => {
    const from = leadStatuses;
    const change = { id, from, to, userId: tenant.userId, reason, createdAt: new Date() };
    await stores().leads.changeStatus(tenant.workspaceId, change);
  },
  change: async (id: string, to: LeadStatus, reason?: string) => {
    const lead = await find(id);
    const status = { from: lead.status, to };
    const change = changeOf(lead, { lead: { status: to }, change: { status, reason, fields: undefined } });
    await stores().leads.change(tenant.workspaceId, [change]);
  },
  'change of fields and status': async (id: string, to: LeadStatus, reason?: string) => {
    const lead = await find(id);
    const status = { from: lead.status, to };
    const city = `${lead.city ?? ''}x`;
    const change = changeOf(lead, {
      lead: { status: to, city },
      change: { status, reason, fields: { city: { to: city } } },
    });
    await stores().leads.change(tenant.workspaceId, [change]);
  },
  'the release before': async (id: string, to: LeadStatus) => {
    await testDatabase.query('UPDATE lead SET status = $2, version = version + 1 WHERE id = $1', [id, to]);
  },
};
type Way = keyof typeof ways;
const allWays = Object.keys(ways) as Way[];

/** Sets or removes the payout of a lead, as an edit does. */
async function setPayout(id: string, payout: LeadPayout | undefined) {
  const lead = await find(id);
  const change = changeOf(lead, {
    lead: { status: lead.status, payout },
    change: { status: undefined, reason: 'r', fields: { payout: {} } },
  });
  return (await stores().leads.change(tenant.workspaceId, [change])).get(id);
}

describe('the payout of a lead', () => {
  test.each(allWays)(
    'is fixed at Approved, kept by Paid and taken away on hold and at Trashed: %s',
    async (way) => {
      await setCampaignPayout('10.5');
      const lead = leadOf(tenant);
      await stores().leads.insert([lead]);
      const go = (to: LeadStatus) => ways[way](lead.id, to, 'r');
      expect(await shown(lead.id)).toEqual(eur('10.5', 'campaign'));
      expect((await find(lead.id)).payout).toBeUndefined();

      await go('Approved');
      await setCampaignPayout('99');
      expect(await shown(lead.id)).toEqual(eur('10.5', 'campaign'));
      await go('Paid');
      expect(await shown(lead.id)).toEqual(eur('10.5', 'campaign'));
      await go('Approved');
      expect(await shown(lead.id)).toEqual(eur('10.5', 'campaign'));

      await go('OnHold');
      expect((await find(lead.id)).payout).toBeUndefined();
      expect(await shown(lead.id)).toEqual(eur('99', 'campaign'));
      await go('Approved');
      expect(await shown(lead.id)).toEqual(eur('99', 'campaign'));
      await go('Trashed');
      expect((await find(lead.id)).payout).toBeUndefined();
      expect(await shown(lead.id)).toBeUndefined();
      if (way === 'the release before') return;

      const changes = await stores().leads.history(lead, 0, 10);
      expect(changes.map(({ fields }) => fields?.['payout'])).toEqual([
        { to: eur('10.5', 'campaign') },
        undefined,
        undefined,
        { from: eur('10.5', 'campaign') },
        { to: eur('99', 'campaign') },
        { from: eur('99', 'campaign') },
      ]);
    },
  );

  test('is that of the publisher before that of the campaign, and none without both', async () => {
    const own = leadOf(tenant, { userId: publisherId });
    const other = leadOf(tenant);
    const elsewhere = leadOf(tenant, { userId: publisherId, campaignId: tenant.otherCampaignId });
    await stores().leads.insert([own, other, elsewhere]);
    await ways.changeStatus(elsewhere.id, 'Approved');
    expect(await shown(elsewhere.id)).toBeUndefined();
    await setPublisherPayout('0');
    expect(await shown(own.id)).toEqual(eur('0', 'publisher'));
    expect(await shown(other.id)).toBeUndefined();
    await setCampaignPayout('12345678.1234', 'JPY');
    const jpy = { amount: '12345678.1234', currency: 'JPY', rule: 'campaign' };
    expect(await shown(own.id)).toEqual(eur('0', 'publisher'));
    expect(await shown(other.id)).toEqual(jpy);
    await ways.change(own.id, 'Approved');
    await ways.change(other.id, 'Approved');
    await stores().payouts.remove(tenant.workspaceId, tenant.campaignId, publisherId);
    expect(await shown(own.id)).toEqual(eur('0', 'publisher'));
    expect(await shown(other.id)).toEqual(jpy);
    // An approved lead without a payout stays without one, also after Paid.
    await setCampaignPayout('1', 'EUR', tenant.otherCampaignId);
    await ways.changeStatus(elsewhere.id, 'Paid');
    await ways.changeStatus(elsewhere.id, 'Approved', 'r');
    expect(await shown(elsewhere.id)).toBeUndefined();
  });

  test('that a person has set is kept on hold and at Trashed, and its removal restores that of the rules', async () => {
    await setCampaignPayout('10');
    const lead = leadOf(tenant);
    await stores().leads.insert([lead]);
    await setPayout(lead.id, eur('7', 'lead'));
    expect(await shown(lead.id)).toEqual(eur('7', 'lead'));
    for (const to of ['Approved', 'Paid', 'Approved', 'OnHold'] as const) {
      await ways.changeStatus(lead.id, to, 'r');
      expect(await shown(lead.id)).toEqual(eur('7', 'lead'));
    }
    await ways.changeStatus(lead.id, 'Trashed', 'r');
    expect(await shown(lead.id)).toBeUndefined();
    await ways.changeStatus(lead.id, 'OnHold');
    await ways.changeStatus(lead.id, 'Approved');
    expect(await shown(lead.id)).toEqual(eur('7', 'lead'));
    expect(await setPayout(lead.id, undefined)).toMatchObject({ payout: eur('10', 'campaign') });
    expect(await shown(lead.id)).toEqual(eur('10', 'campaign'));
    const changes = await stores().leads.history(lead, 1, 10);
    expect(changes.flatMap(({ fields = {} }) => fields['payout'] ?? [])).toEqual([
      { to: eur('7', 'lead') },
      { from: eur('7', 'lead'), to: eur('10', 'campaign') },
    ]);
  });

  test('is fixed in a lead that is approved when it is created, and counted once, also if it is repeated', async () => {
    await setCampaignPayout('3.25');
    const lead = leadOf(tenant, { status: 'Approved' });
    await stores().leads.insert([lead]);
    await stores().leads.insert([lead]);
    expect(await shown(lead.id)).toEqual(eur('3.25', 'campaign'));
    const { workspaceId, campaignId, userId } = tenant;
    expect(await stores().payouts.totals({ workspaceId }, wholeRange)).toEqual([
      { campaignId, userId, status: 'Approved', currency: 'EUR', leads: 1, amount: '3.25' },
    ]);
  });
});

const wholeRange = { from: new Date('2026-01-01T00:00:00Z'), to: new Date('2030-01-01T00:00:00Z') };

describe('a payment', () => {
  const payments = () => createPaymentStore(database);
  const dayMs = 86_400_000;
  const from = new Date(Date.UTC(2026, 0, 1));
  const within = new Date(from.getTime() + dayMs);
  const paymentOf = (fields: object = {}) => ({
    id: newId(),
    workspaceId: tenant.workspaceId,
    userId: publisherId,
    createdBy: tenant.userId,
    from,
    to: new Date(from.getTime() + 31 * dayMs),
    currency: 'EUR',
    date: '2026-02-01',
    ...fields,
  });
  const create = async (fields: object = {}, maxLeads = 1_000) =>
    (await payments().create(paymentOf(fields), maxLeads)).payment;
  /** Stores Approved leads of the publisher. @returns their ids. */
  const addLeads = async (count: number, fields: Partial<StoredLead> = {}) => {
    const added = Array.from({ length: count }, () =>
      leadOf(tenant, {
        userId: publisherId,
        status: 'Approved',
        createdAt: within,
        updatedAt: within,
        ...fields,
      }),
    );
    await stores().leads.insert(added);
    return added.map(({ id }) => id);
  };
  const finish = async (store = payments()) => {
    while (await store.step(100));
  };
  const read = (id: string) => payments().find({ workspaceId: tenant.workspaceId }, id);
  const statusOf = async (ids: readonly string[]) =>
    (await Promise.all(ids.map(find))).map(({ status, payout }) => `${status} ${payout?.amount ?? ''}`);
  const cancel = (id: string) =>
    payments().cancel({ workspaceId: tenant.workspaceId, id }, { userId: tenant.userId, reason: 'r' });
  const go = (id: string, to: LeadStatus) => ways.changeStatus(id, to, 'r');
  /** Adds up the leads of all payments by state. */
  const recount = (id: string) =>
    testDatabase.query(
      `SELECT count(*)::int AS total, count(*) FILTER (WHERE state IN ('paid', 'returned', 'kept'))::int AS leads,
         trim_scale(coalesce(sum(amount) FILTER (WHERE state IN ('paid', 'returned', 'kept')), 0))::text AS amount,
         count(*) FILTER (WHERE state = 'skipped')::int AS skipped,
         count(*) FILTER (WHERE state = 'returned')::int AS returned, count(*) FILTER (WHERE state = 'kept')::int AS kept
       FROM payment_lead WHERE payment_id = $1`,
      [id],
    );

  test('marks each lead as Paid once by several processes, also after one has lost its connection, and skips leads that changed', async () => {
    await setCampaignPayout('0.1');
    const ids = await addLeads(350);
    await setCampaignPayout('0.2', 'USD');
    const dollars = await addLeads(2);
    const others = [
      ...(await addLeads(1, { createdAt: new Date(from.getTime() - 1) })),
      ...(await addLeads(1, { userId: tenant.userId })),
      ...(await addLeads(1, { status: 'OnHold' })),
    ];
    const { id, ...created } = await create({ note: 'n' });
    expect(created).toMatchObject({
      number: 1,
      total: 350,
      leads: 0,
      amount: '0',
      state: 'paying',
      note: 'n',
    });
    // The leads of a payment in progress are in no other one.
    await expect(create()).rejects.toMatchObject({ code: 'conflict' });
    const [held = '', erased = '', repriced = ''] = ids;
    await go(held, 'OnHold');
    await testDatabase.query(`SELECT FROM erase_leads('{${erased}}')`);
    await setPayout(repriced, eur('9', 'lead'));

    const dying = createPaymentStore({
      ...database,
      transaction: (work, options) =>
        database.transaction(async (tx) => {
          const result = await work(tx);
          await tx.$queryRaw`SELECT pg_terminate_backend(pg_backend_pid())`;
          return result;
        }, options),
    });
    await payments().step(100);
    await expect(dying.step(100)).rejects.toMatchObject({ code: 'unavailable' });
    expect((await read(id))?.leads).toBe(97);
    await Promise.all([finish(), finish(), finish()]);
    await finish();

    const paid = await read(id);
    expect(paid).toMatchObject({ state: 'paid', leads: 347, skipped: 3, amount: '34.7' });
    expect(paid).toMatchObject((await recount(id))[0] as object);
    const changes = await testDatabase.query(
      `SELECT count(*)::int AS changes, count(DISTINCT lead_id)::int AS leads FROM lead_change
       WHERE reason = 'Payment 1' AND to_status = 'Paid' AND user_id = $1`,
      [tenant.userId],
    );
    expect(changes).toEqual([{ changes: 347, leads: 347 }]);
    expect(await statusOf([held, repriced, ...dollars])).toEqual([
      'OnHold ',
      'Approved 9',
      'Approved 0.2',
      'Approved 0.2',
    ]);
    expect((await statusOf(others)).filter((text) => text.startsWith('Paid'))).toEqual([]);
    await finish();
    expect(await create({ currency: 'USD' })).toMatchObject({ number: 2, total: 2 });
  });

  test('is cancelled with the same payouts, keeps leads that changed since, and frees the others for another payment', async () => {
    await setCampaignPayout('1.5');
    const ids = await addLeads(5);
    const [again = '', erased = '', held = '', ...rest] = ids;
    const { id } = await create();
    await finish();
    await setCampaignPayout('7');
    for (const to of ['Approved', 'Paid'] as const) await go(again, to);
    await testDatabase.query(`SELECT FROM erase_leads('{${erased}}')`);
    for (const to of ['Approved', 'OnHold'] as const) await go(held, to);
    expect(await cancel(id)).toMatchObject({ isChanged: true, payment: { state: 'cancelling' } });
    await finish();
    expect(await cancel(id)).toMatchObject({ isChanged: false });
    const cancelled = {
      state: 'cancelled',
      leads: 5,
      amount: '7.5',
      returned: 2,
      kept: 3,
      cancelReason: 'r',
    };
    expect(await read(id)).toMatchObject(cancelled);
    expect(await read(id)).toMatchObject((await recount(id))[0] as object);
    expect(await statusOf([again, ...rest])).toEqual(['Paid 1.5', 'Approved 1.5', 'Approved 1.5']);
    const history = await stores().leads.history({ ...tenant, id: rest[0] ?? '' }, 2, 9);
    expect(history).toMatchObject([{ reason: 'Payment 1 canceled: r', userId: tenant.userId }]);

    const next = await create();
    expect(next).toMatchObject({ number: 2, total: 2 });
    // A payment in progress is cancelled, too: it pays no further lead.
    await payments().step(1);
    await cancel(next.id);
    await finish();
    expect(await read(next.id)).toMatchObject({ state: 'cancelled', leads: 1, skipped: 1, returned: 1 });
    expect(await statusOf(rest)).toEqual(['Approved 1.5', 'Approved 1.5']);
  });

  test('whose step always fails delays no other payment, waits longer after each failure, and names the reason', async () => {
    await setCampaignPayout('1');
    const [poisoned = ''] = await addLeads(1);
    const failing = await create();
    await addLeads(1, { userId: tenant.userId });
    const other = await create({ userId: tenant.userId });
    await testDatabase.query(`
      CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'rejected'; END $$`);
    await testDatabase.query(`
      CREATE TRIGGER reject BEFORE UPDATE ON lead FOR EACH ROW WHEN (NEW.id = '${poisoned}') EXECUTE FUNCTION reject()`);
    /** Takes the next step of the failing payment now. @returns whether the pause after it is longer than 800 s. */
    const failNow = async (failures: number) => {
      await testDatabase.query(
        `UPDATE payment SET failures = $2, last_error = 'rejected', retry_at = now() WHERE id = $1`,
        [failing.id, failures],
      );
      expect((await payments().step(100))?.error).toMatchObject({ name: 'DatabaseError' });
      const [row] = await testDatabase.query(
        `SELECT retry_at > now() + interval '800 s' AS is_long FROM payment WHERE id = $1`,
        [failing.id],
      );
      return row?.['is_long'];
    };
    const lastStepAt = await payments().oldestStepAt();
    expect(await payments().step(100)).toMatchObject({
      paymentId: failing.id,
      error: { name: 'DatabaseError' },
    });
    await finish();
    // A failed step is no progress.
    expect(lastStepAt).toBeInstanceOf(Date);
    expect(await payments().oldestStepAt()).toEqual(lastStepAt);
    expect(await read(other.id)).toMatchObject({ state: 'paid', leads: 1 });
    expect(await read(failing.id)).toMatchObject({
      state: 'paying',
      leads: 0,
      failure: paymentFailures.rejected,
      retryAt: expect.any(String) as string,
    });
    expect([await failNow(1), await failNow(8), await failNow(2_000_000_000)]).toEqual([false, true, true]);

    await testDatabase.query('DROP TRIGGER reject ON lead');
    await testDatabase.query('UPDATE payment SET retry_at = now() WHERE id = $1', [failing.id]);
    await finish();
    const paid = await read(failing.id);
    expect(paid).toMatchObject({ state: 'paid', leads: 1 });
    expect(paid).not.toHaveProperty('failure');
    expect(paid).not.toHaveProperty('retryAt');
    expect(await payments().oldestStepAt()).toBeUndefined();
  });

  test('loses a lead that a user has changed back to Approved to the next payment, and has a limited number of leads', async () => {
    await setCampaignPayout('1');
    const ids = await addLeads(3);
    const first = await create();
    await finish();
    await go(ids[0] ?? '', 'Approved');
    const second = await create();
    await finish();
    expect(await read(first.id)).toMatchObject({ state: 'paid', leads: 3, amount: '3', returned: 1 });
    expect(await read(second.id)).toMatchObject({ state: 'paid', leads: 1, amount: '1' });
    for (const { id } of [first, second])
      expect(await read(id)).toMatchObject((await recount(id))[0] as object);
    await cancel(first.id);
    await finish();
    expect(await statusOf(ids)).toEqual(['Paid 1', 'Approved 1', 'Approved 1']);
    await expect(create({}, 1)).rejects.toMatchObject({ code: 'limit_reached' });
    // The refused payment has used no number.
    expect(await create({}, 2)).toMatchObject({ number: 3, total: 2 });
    await finish();
  });

  test('has all leads that no payment in progress has, also if that one has more leads than its limit', async () => {
    await setCampaignPayout('1');
    await addLeads(5);
    await create();
    await addLeads(3);
    const second = await create({}, 3);
    expect(second).toMatchObject({ total: 3 });
    await expect(create({}, 3)).rejects.toMatchObject({ code: 'conflict' });
    await finish();
    expect(await read(second.id)).toMatchObject({ state: 'paid', leads: 3 });
  });
});
