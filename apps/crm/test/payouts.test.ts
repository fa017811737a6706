import { randomUUID } from 'node:crypto';
import type { LeadDetail } from '@leads/core/lead';
import type { OverviewPayouts, PayoutSum } from '@leads/core/overview';
import type { TestMember, TestWorkspace } from '@leads/test-kit/fixture';
import { onOneDay } from '@leads/test-kit/one-day';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { openEvents } from './event-client.ts';
import { apiCalls, forbidden, leadsApi, notFound, ok } from './leads-api.ts';
import { signInAs, type Visitor } from './visitor.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const leads = leadsApi(service);
const call = apiCalls(service);

let workspace: TestWorkspace;
let owner: TestMember;
let publisher: TestMember;
let other: TestMember;
beforeEach(async () => {
  workspace = await fixture.createWorkspace();
  owner = workspace.owner;
  publisher = await workspace.addMember('publisher');
  other = await workspace.addMember('publisher');
});

const campaignPath = () => `/campaigns/${workspace.demoCampaignId}`;
const setPayout = (payout: object | null, member = owner) =>
  call(member, 'PATCH', campaignPath(), { payout });
const setOwnPayout = (of: TestMember, payout: object, by = owner) =>
  call(by, 'PUT', `${campaignPath()}/payouts/${of.userId}`, payout);
const campaignOf = async (member: TestMember) =>
  (await call(member, 'GET', '/campaigns'))
    .json<{ id: string; payout?: object }[]>()
    .find(({ id }) => id === workspace.demoCampaignId);
async function addLead(member = publisher): Promise<string> {
  const lead = workspace.lead(member, { s1: 'click' });
  await fixture.leads.insert([lead]);
  return lead.id;
}
const eur = (amount: string) => ({ amount, currency: 'EUR' });

describe('an amount', () => {
  const cases: [body: unknown, pointer: string | undefined][] = [
    [eur('0'), undefined],
    [eur('0.0001'), undefined],
    [eur('12.50'), undefined],
    [eur('123456789012'), undefined],
    [eur('12345678.1234'), undefined],
    [eur('1234567890123'), '/amount'],
    [eur('123456789.1234'), '/amount'],
    [eur('1.00000'), '/amount'],
    [eur('-1'), '/amount'],
    [eur('+1'), '/amount'],
    [eur('1e3'), '/amount'],
    [eur('1,5'), '/amount'],
    [eur(' 1'), '/amount'],
    [eur('1\n'), '/amount'],
    [eur('01'), '/amount'],
    [eur('.5'), '/amount'],
    [eur('1.'), '/amount'],
    [eur(''), '/amount'],
    [eur('NaN'), '/amount'],
    [eur('٣'), '/amount'],
    [eur('9'.repeat(10_000)), '/amount'],
    [{ amount: 1, currency: 'EUR' }, '/amount'],
    [{ currency: 'EUR' }, '/amount'],
    [{ amount: '1' }, '/currency'],
    [{ amount: '1', currency: 'eur' }, '/currency'],
    [{ amount: '1', currency: 'EURO' }, '/currency'],
    [{ amount: '1', currency: 'XQX' }, '/currency'],
    [{ amount: '1', currency: null }, '/currency'],
    [{ ...eur('1'), rule: 'lead' }, '/rule'],
    [true, ''],
    [[], ''],
  ];

  test('is accepted or rejected by the same rules in all places, with the field named', async () => {
    const id = await addLead();
    const places: [pointer: string, send: (payout: unknown) => ReturnType<typeof call>][] = [
      ['/payout', (payout) => call(owner, 'PATCH', campaignPath(), { payout }, problem)],
      ['', (payout) => call(owner, 'PUT', `${campaignPath()}/payouts/${publisher.userId}`, payout, problem)],
      ['/payout', (payout) => call(owner, 'PATCH', `/order/leads/${id}`, { payout, reason: 'r' }, problem)],
    ];
    for (const [body, pointer] of cases) {
      for (const [prefix, send] of places) {
        const answer = await send(body);
        const { errors = [] } = answer.json<{ errors?: { pointer: string }[] }>();
        expect([body, answer.status, errors[0]?.pointer]).toEqual(
          pointer === undefined ? [body, 200, undefined] : [body, 400, `#${prefix}${pointer}`],
        );
      }
    }
  });
  const problem = { Accept: 'application/problem+json' };

  test('stays exact, and loses only zeros at its end', async () => {
    const exact = {
      '12.50': '12.5',
      '100': '100',
      '1.0000': '1',
      '0.10': '0.1',
      '12345678.9999': '12345678.9999',
    };
    for (const [sent, stored] of Object.entries(exact)) {
      expect((await setPayout(eur(sent))).json()).toMatchObject({ campaign: { payout: eur(stored) } });
      expect((await setOwnPayout(publisher, eur(sent))).json()).toMatchObject({ payout: eur(stored) });
    }
    expect((await campaignOf(owner))?.payout).toEqual(eur('12345678.9999'));
  });
});

describe('who sees a payout', () => {
  test('a publisher sees its own effective amount, and no amount of another publisher', async () => {
    await setPayout(eur('30'));
    await setOwnPayout(publisher, eur('40'));
    await setOwnPayout(other, eur('51'));
    const [own, ofOther] = [await addLead(), await addLead(other)];
    expect((await campaignOf(publisher))?.payout).toEqual(eur('40'));
    expect((await campaignOf(other))?.payout).toEqual(eur('51'));
    expect((await campaignOf(owner))?.payout).toEqual(eur('30'));
    const ids = [publisher, other].map(({ userId }) => userId).toSorted();
    const listed = await call(owner, 'GET', `${campaignPath()}/payouts`);
    expect(listed.json<{ userId: string }[]>().map(({ userId }) => userId)).toEqual(ids);

    expect(await leads.get(publisher, own)).toMatchObject({ payout: { ...eur('40'), rule: 'publisher' } });
    const everything = await Promise.all([
      call(publisher, 'GET', '/order/leads', undefined, { Accept: 'application/x-ndjson' }),
      call(publisher, 'GET', `/order/leads/${own}/history`),
      call(publisher, 'GET', '/campaigns'),
      call(publisher, 'GET', `${campaignPath()}/payouts`),
      call(publisher, 'GET', `/order/leads/${ofOther}`),
    ]);
    expect(everything.map(({ status }) => status)).toEqual([200, 200, 200, 403, 404]);
    expect(everything.map(({ text }) => text).join(' ')).not.toMatch(/"(30|51)"/);
  });

  test('the Lead of the specification has no payout, while the detail, NDJSON and CSV have it', async () => {
    await setPayout(eur('12.50'));
    const created = await leads.create(owner, { name: 'Ann', phone: '1' });
    const keys = 'id name phone createdAt updatedAt campaignId userId status';
    expect(Object.keys(created.json<{ lead: object }>().lead).join(' ')).toBe(keys);
    const { leads: listed } = await leads.list(owner);
    expect(Object.keys(listed[0] ?? {}).join(' ')).toBe(keys);
    const id = listed[0]?.id ?? '';
    const payout = { ...eur('12.5'), rule: 'campaign' };
    expect(await leads.get(owner, id)).toMatchObject({ payout });
    const as = (Accept: string) => call(owner, 'GET', '/order/leads', undefined, { Accept });
    expect((await as('application/x-ndjson')).json()).toMatchObject({ payout });
    const csv = () => as('text/csv').then(({ text }) => text);
    expect(await csv()).toContain(',12.5,EUR,campaign,');
    ok(await leads.changeStatuses(owner, [id], 'Approved'));
    await setPayout(null);
    expect(await csv()).toContain(',12.5,EUR,campaign,');
    expect((await as('application/x-ndjson')).json()).toMatchObject({ payout });
    ok(await leads.changeStatuses(owner, [id], 'Trashed', 'r'));
    expect(await csv()).toContain(',,,,');
    expect((await as('application/x-ndjson')).json()).not.toHaveProperty('payout');
  });
});

describe('the payout of one lead', () => {
  const edit = (id: string, body: object, member = owner) => leads.edit(member, id, body);

  test('needs a reason, a manager and the scope leads:status, and changes on hold and at Approved only', async () => {
    const id = await addLead();
    const payout = eur('5');
    const refusedAs = async (body: object, member = owner) => {
      const answer = await edit(id, body, member);
      return [answer.status, answer.json<{ message: string }>().message];
    };
    expect(await refusedAs({ payout })).toEqual([400, 'This change needs a reason']);
    expect(await refusedAs({ payout, reason: 'r' }, publisher)).toEqual([403, forbidden.message]);
    const writer = await workspace.addMember('manager', { scope: ['leads:read', 'leads:write'] });
    expect(await refusedAs({ payout, reason: 'r' }, writer)).toEqual([
      403,
      'This API key does not have the scope leads:status',
    ]);
    expect(await refusedAs({ status: 'Trashed', payout, reason: 'r' })).toEqual([
      409,
      'The payout of a lead that is Trashed cannot change',
    ]);
    const edited = ok<{ lead: LeadDetail }>(await edit(id, { status: 'Approved', payout, reason: 'r' }));
    expect(edited.lead.payout).toEqual({ ...payout, rule: 'lead' });
    ok(await edit(id, { payout: eur('5.50'), reason: 'r' }));
    ok(await edit(id, { status: 'Paid' }));
    expect(await refusedAs({ payout, reason: 'r' })).toEqual([
      409,
      'The payout of a lead that is Paid cannot change',
    ]);
    expect(await leads.get(publisher, id)).toMatchObject({ payout: { ...eur('5.5'), rule: 'lead' } });
  });

  test('is noted in the history and reported by an event, with its reason, also without a change of the status', async () => {
    await setPayout(eur('9'));
    const id = await addLead();
    ok(await edit(id, { payout: eur('5'), reason: 'bonus' }));
    // The same amount is no change.
    expect((await edit(id, { payout: eur('5.00'), reason: 'again' })).json()).toMatchObject({
      lead: { version: 2 },
    });
    ok(await edit(id, { status: 'Approved' }));
    const removed = ok<{ lead: LeadDetail }>(await edit(id, { payout: null, reason: 'mistake' }));
    expect(removed.lead).toMatchObject({ version: 4, payout: { ...eur('9'), rule: 'campaign' } });
    ok(await edit(id, { city: 'Paris', status: 'OnHold' }));
    const set = { ...eur('5'), rule: 'lead' };
    const fixed = { ...eur('9'), rule: 'campaign' };
    expect((await leads.history(publisher, id)).slice(1)).toMatchObject([
      { type: 'updated', reason: 'bonus', fields: { payout: { to: set } } },
      { type: 'status_changed', to: 'Approved' },
      { type: 'updated', reason: 'mistake', fields: { payout: { from: set, to: fixed } } },
      { type: 'status_changed', fields: { city: { to: 'Paris' }, payout: { from: fixed } } },
    ]);
    // Each event has the payout of its version.
    const client = await openEvents(
      service.port,
      owner.headers,
      `?since=${new Date(Date.now() - 60_000).toISOString()}`,
    );
    try {
      const events = await client.received(5);
      expect(events.map(({ data }) => data.lead.payout)).toEqual([fixed, set, set, fixed, fixed]);
    } finally {
      client.close();
    }
  });

  test('sent with a status to the import of statuses or a job is that of the rules', async () => {
    await setPayout(eur('3'));
    const [imported, inJob] = [await addLead(), await addLead()];
    const file = `id,status\r\n${imported},Approved\r\n`;
    ok(await call(owner, 'POST', '/order/leads/status/import', file, { 'Content-Type': 'text/csv' }));
    expect(await leads.get(owner, imported)).toMatchObject({ payout: { ...eur('3'), rule: 'campaign' } });
    ok(
      await call(owner, 'POST', '/jobs', {
        action: 'status',
        filters: { status: 'OnHold' },
        status: 'Approved',
      }),
    );
    await expect.poll(() => leads.get(owner, inJob)).toMatchObject({ status: 'Approved' });
    await setPayout(eur('4'));
    expect(await leads.get(owner, inJob)).toMatchObject({ payout: { ...eur('3'), rule: 'campaign' } });
    expect(await leads.history(owner, inJob)).toMatchObject([
      {},
      { fields: { payout: { to: { ...eur('3'), rule: 'campaign' } } } },
    ]);
  });
});

test('a payout of an unknown campaign, of another workspace and of a user outside the workspace is answered with 404', async () => {
  const theirs = await fixture.createWorkspace();
  const paths = [
    `/campaigns/${randomUUID()}/payouts/${publisher.userId}`,
    `/campaigns/x/payouts/${publisher.userId}`,
    `${campaignPath()}/payouts/x`,
    `${campaignPath()}/payouts/${theirs.owner.userId}`,
    `/campaigns/${theirs.demoCampaignId}/payouts/${publisher.userId}`,
    `/campaigns/${theirs.demoCampaignId}/payouts/${theirs.owner.userId}`,
  ];
  for (const path of paths) {
    for (const [method, body] of [['PUT', eur('1')], ['DELETE']] as const) {
      const answer = await call(owner, method, path, body);
      expect([path, answer.status, answer.json()]).toEqual([path, 404, notFound]);
    }
  }
  const listed = await call(owner, 'GET', `/campaigns/${theirs.demoCampaignId}/payouts`);
  expect([listed.status, listed.json()]).toEqual([404, notFound]);
  expect((await call(owner, 'GET', `${campaignPath()}/payouts`)).json()).toEqual([]);
});

test('the website gets the columns of the listed leads that a member may see', async () => {
  await setPayout(eur('30'));
  const { visitor, member } = await signInAs(crm.service, workspace, 'publisher');
  const callbackAt = '2026-03-01T00:00:00.000Z';
  const lead = workspace.lead(member, {
    source: 'intake',
    s1: 'click',
    lpName: 'spring',
    email: 'a@b.io',
    city: 'Oslo',
  });
  await fixture.leads.insert([lead]);
  await fixture.sql('UPDATE lead SET assignee_id = $2, callback_at = $3 WHERE id = $1', [
    lead.id,
    owner.userId,
    callbackAt,
  ]);
  const path = (asked: readonly string[]) => `/lead-columns?ids=${asked.join()}`;
  const asked = path([lead.id, await addLead(other), randomUUID()]);
  const shown = {
    id: lead.id,
    name: lead.name,
    source: 'intake',
    s1: 'click',
    lpName: 'spring',
    email: 'a@b.io',
    city: 'Oslo',
    payout: { ...eur('30'), rule: 'campaign' },
  };
  expect((await visitor.get(asked)).json()).toEqual([shown]);
  const manager = await signInAs(crm.service, workspace, 'manager');
  const all = (await manager.visitor.get(asked)).json<{ id: string }[]>();
  expect(all).toHaveLength(2);
  expect(all.find(({ id }) => id === lead.id)).toEqual({ ...shown, assigneeId: owner.userId, callbackAt });
  const stranger = await signInAs(crm.service, await fixture.createWorkspace(), 'owner');
  expect((await stranger.visitor.get(asked)).json()).toEqual([]);
  for (const wrong of ['', 'x', `${lead.id},`, Array.from({ length: 101 }, () => lead.id).join()]) {
    expect((await visitor.get(path([wrong]))).status).toBe(400);
  }
});

test('a campaign has payouts for 1,000 publishers at most', async () => {
  await fixture.sql(
    `WITH added AS (
       INSERT INTO "user" (id, name, email, updated_at)
       SELECT gen_random_uuid(), 'P', gen_random_uuid() || '@example.io', now() FROM generate_series(1, 999) RETURNING id
     ) INSERT INTO publisher_payout (workspace_id, campaign_id, user_id, amount, currency)
     SELECT $1, $2, id, 1, 'EUR' FROM added`,
    [workspace.id, workspace.demoCampaignId],
  );
  expect((await setOwnPayout(publisher, eur('1'))).status).toBe(200);
  expect((await setOwnPayout(publisher, eur('2'))).status).toBe(200);
  expect((await setOwnPayout(other, eur('1'))).status).toBe(409);
});

test('a statement adds up leads by publisher, campaign, status and currency, and a publisher gets its own', async () => {
  type Item = { campaignCode: string; status: string; currency?: string; leads: number; amount?: string };
  interface Statement {
    from: string;
    to: string;
    publishers: { userId: string; name?: string; items: Item[]; totals: Item[] }[];
    totals: Item[];
  }
  const read = async (member: TestMember, query: string) =>
    ok<Statement>(await call(member, 'GET', `/statements?from=2026-01-01&to=2026-01-31${query}`));
  const extra = await workspace.addCampaign('EXTRA');
  await setPayout(eur('0.1'));
  ok(await call(owner, 'PATCH', `/campaigns/${extra}`, { payout: eur('0.2') }));
  await setOwnPayout(other, { amount: '12345678.0001', currency: 'USD' });
  const add = async (
    member: TestMember,
    createdAt: string,
    status: 'OnHold' | 'Approved',
    campaignId?: string,
  ) => {
    const lead = workspace.lead(member, {
      createdAt: new Date(createdAt),
      ...(campaignId !== undefined && { campaignId }),
    });
    await fixture.leads.insert([lead]);
    if (status === 'Approved') ok(await call(owner, 'PATCH', `/order/leads/${lead.id}`, { status }));
  };
  const within = '2026-01-15T12:00:00Z';
  for (let count = 0; count < 3; count++) await add(publisher, within, 'Approved');
  await add(publisher, within, 'OnHold');
  await add(publisher, within, 'Approved', extra);
  await add(publisher, within, 'Approved', workspace.defaultCampaignId);
  await add(other, within, 'Approved');
  await add(other, within, 'Approved');
  // In Berlin, the first lead is of the month, and the second is of the next month. In UTC, it is the reverse.
  await add(publisher, '2025-12-31T23:30:00Z', 'Approved');
  await add(publisher, '2026-01-31T23:30:00Z', 'OnHold');

  const statement = await read(owner, '&zone=Europe/Berlin');
  expect([statement.from, statement.to]).toEqual(['2025-12-31T23:00:00.000Z', '2026-01-31T23:00:00.000Z']);
  const of = (userId: string) => statement.publishers.find((each) => each.userId === userId);
  const approved = { status: 'Approved', currency: 'EUR' };
  expect(of(publisher.userId)).toMatchObject({
    items: expect.arrayContaining([
      expect.objectContaining({ campaignCode: 'DEMO', ...approved, leads: 4, amount: '0.4' }),
      expect.objectContaining({
        campaignCode: 'DEMO',
        status: 'OnHold',
        currency: 'EUR',
        leads: 1,
        amount: '0.1',
      }),
      expect.objectContaining({ campaignCode: 'EXTRA', ...approved, leads: 1, amount: '0.2' }),
    ]) as unknown,
    totals: [
      { status: 'Approved', leads: 1 },
      { ...approved, leads: 5, amount: '0.6' },
      { status: 'OnHold', currency: 'EUR', leads: 1, amount: '0.1' },
    ],
  });
  const usd = { status: 'Approved', currency: 'USD', leads: 2, amount: '24691356.0002' };
  expect(of(other.userId)).toMatchObject({ totals: [usd] });
  expect(statement.totals).toHaveLength(4);
  const inUtc = await read(owner, `&user=${publisher.userId}&campaignCode=DEMO`);
  expect(inUtc.totals).toEqual([
    { ...approved, leads: 3, amount: '0.3' },
    { status: 'OnHold', currency: 'EUR', leads: 2, amount: '0.2' },
  ]);

  // A publisher gets its own statement, whatever it asks for.
  const own = await read(publisher, '&zone=Europe/Berlin');
  expect(own.publishers).toEqual([of(publisher.userId)]);
  expect((await read(publisher, `&user=${other.userId}`)).publishers).toEqual([]);
  const neighbor = await fixture.createWorkspace();
  expect((await read(neighbor.owner, `&user=${publisher.userId}`)).publishers).toEqual([]);

  const csv = await call(other, 'GET', '/statements?from=2026-01-01&to=2026-01-31', undefined, {
    Accept: 'text/csv',
  });
  expect([csv.status, csv.headers['content-disposition']]).toEqual([
    200,
    expect.stringMatching(/^attachment; filename="statement-\d{4}-\d{2}-\d{2}\.csv"$/),
  ]);
  expect(csv.text.split('\r\n')).toEqual([
    'userId,name,campaignId,campaignCode,status,currency,leads,amount',
    expect.stringMatching(/^[^,]+,[^,]*,[^,]+,DEMO,Approved,USD,2,24691356.0002$/),
    '',
  ]);
  // By default, the days are those of the present month until today, and have no lead of these.
  await onOneDay(async (day) => {
    const { from, to, totals } = ok<Statement>(await call(owner, 'GET', '/statements'));
    const nextDay = new Date(Date.parse(day) + 86_400_000).toISOString();
    expect([from, to, totals]).toEqual([`${day.slice(0, 8)}01T00:00:00.000Z`, nextDay, []]);
  });
  const future = ok<Statement>(await call(owner, 'GET', '/statements?from=2126-01-31'));
  expect([future.from, future.to]).toEqual(['2126-01-31T00:00:00.000Z', '2126-02-01T00:00:00.000Z']);
  for (const query of [
    'from=2026-01-02&to=2026-01-01',
    'from=2026-01-01&to=2026-02-30',
    'from=1999-01-01&to=2026-01-01',
    'from=2026-01-01&to=2026-01-02&zone=Mars',
    'from=9999-12-01&to=9999-12-31',
    'from=2026-01-01&to=2026-01-02&user=x',
    'from=2026-01-01&to=2026-01-02&x=1',
  ]) {
    expect([query, (await call(owner, 'GET', `/statements?${query}`)).status]).toEqual([query, 400]);
  }
});

test('the overview has the amounts of the statement, with reverted and trashed leads and leads at midnight, and a publisher gets only its own', async () => {
  const { member: manager, visitor: asManager } = await signInAs(service, workspace, 'manager');
  const { member: payee, visitor: asPayee } = await signInAs(service, workspace, 'publisher');
  const { visitor: asNeighbor } = await signInAs(service, await fixture.createWorkspace(), 'owner');
  await setPayout(eur('0.1'));
  await setOwnPayout(payee, { amount: '12345678.0001', currency: 'USD' });
  const add = async (member: TestMember, createdAt: string, ...statuses: string[]) => {
    const lead = workspace.lead(member, { createdAt: new Date(createdAt), s1: 'click' });
    await fixture.leads.insert([lead]);
    for (const status of statuses) {
      ok(await call(owner, 'PATCH', `/order/leads/${lead.id}`, { status, reason: 'r' }));
    }
    return lead.id;
  };
  for (const member of [manager, payee]) {
    await add(member, '2026-01-15T12:00:00Z');
    await add(member, '2026-01-15T12:00:00Z', 'Approved', 'Paid');
    // Reverted and trashed leads.
    await add(member, '2026-01-15T12:00:00Z', 'Approved', 'OnHold');
    await add(member, '2026-01-15T12:00:00Z', 'Approved', 'Paid', 'Approved', 'Trashed');
    // In Berlin, the first is of the first day of the month, and the second is of the next month.
    await add(member, '2025-12-31T23:00:00Z', 'Approved');
    await add(member, '2026-01-31T23:00:00Z', 'Approved');
    await add(member, '2026-01-31T22:59:59Z');
  }
  const special = await add(manager, '2026-01-15T12:00:00Z');
  const changed = { payout: { amount: '7.5', currency: 'JPY' }, reason: 'r' };
  ok(await call(owner, 'PATCH', `/order/leads/${special}`, changed));

  const days = 'from=2026-01-01&to=2026-01-31&zone=Europe/Berlin';
  type Sum = { status: string; currency?: string; amount?: string };
  const statementOf = async (member: TestMember) => {
    const { totals } = ok<{ totals: Sum[] }>(await call(member, 'GET', `/statements?${days}`));
    return totals.filter(({ amount }) => amount !== undefined);
  };
  const amountsOf = (sums: readonly PayoutSum[]) =>
    sums
      .flatMap(({ currency, ...amounts }) =>
        (['payable', 'expected', 'paid'] as const).map((each, index) => ({
          status: ['Approved', 'OnHold', 'Paid'][index],
          currency,
          amount: amounts[each],
        })),
      )
      .filter(({ amount }) => amount !== '0');
  const overviewOf = async (visitor: Visitor) =>
    (await visitor.get(`/overview/payouts?${days}`)).json<OverviewPayouts>();
  const all = await overviewOf(asManager);
  const byStatus = (sums: readonly Sum[]) =>
    sums.map(({ status, currency, amount }) => `${status} ${currency} ${amount}`).toSorted();
  expect(all.total.map(({ currency }) => currency)).toEqual(['EUR', 'JPY', 'USD']);
  expect(byStatus(amountsOf(all.total) as Sum[])).toEqual(byStatus(await statementOf(owner)));
  expect(all.steps?.[0]).toEqual([
    { currency: 'EUR', expected: '0', payable: '0.1', paid: '0' },
    { currency: 'USD', expected: '0', payable: '12345678.0001', paid: '0' },
  ]);
  expect(all.steps?.at(-1)).toEqual([
    { currency: 'EUR', expected: '0.1', payable: '0', paid: '0' },
    { currency: 'USD', expected: '12345678.0001', payable: '0', paid: '0' },
  ]);
  expect(all.previous).toEqual([]);
  expect(all.campaigns).toEqual([{ value: 'DEMO', payouts: all.total }]);

  const dollars = {
    currency: 'USD',
    expected: '37037034.0003',
    payable: '12345678.0001',
    paid: '12345678.0001',
  };
  const own = await overviewOf(asPayee);
  expect(own.total).toEqual([dollars]);
  expect(byStatus(amountsOf(own.total) as Sum[])).toEqual(byStatus(await statementOf(payee)));
  const subIds = async (visitor: Visitor) =>
    (await visitor.get(`/overview/sub-id-payouts?${days}`)).json<object[]>();
  expect(await subIds(asManager)).toEqual([{ value: 'click', payouts: all.total }]);
  expect(await subIds(asPayee)).toEqual([{ value: 'click', payouts: [dollars] }]);
  const users = `/overview/publisher-payouts?${days}&users=`;
  expect((await asManager.get(`${users}${payee.userId},${randomUUID()}`)).json()).toEqual([
    { value: payee.userId, payouts: [dollars] },
  ]);
  expect((await asPayee.get(users + payee.userId)).status).toBe(403);

  expect((await asNeighbor.get(users + payee.userId)).json()).toEqual([]);
  expect(await subIds(asNeighbor)).toEqual([]);
  expect((await overviewOf(asNeighbor)).total).toEqual([]);
  for (const path of [
    `${users}x`,
    `${users}${Array.from({ length: 21 }, () => payee.userId).join()}`,
    '/overview/payouts?from=2026-01-02&to=2026-01-01',
    `/overview/payouts?${days}&compareFrom=2026-01-01`,
    '/overview/sub-id-payouts?from=2026-01-01&to=2026-01-02&zone=Mars',
  ]) {
    expect([path, (await asManager.get(path)).status]).toEqual([path, 400]);
  }
});

describe('a payment', () => {
  interface Payment {
    id: string;
    number: number;
    state: string;
    leads: number;
    amount: string;
    returned: number;
  }
  const january = { from: '2026-01-01', to: '2026-01-31', zone: 'Europe/Berlin' };
  const bodyOf = (fields: object = {}) => ({
    userId: publisher.userId,
    ...january,
    currency: 'EUR',
    date: '2026-02-03',
    ...fields,
  });
  const pay = (fields: object = {}, headers: Record<string, string> = {}) =>
    call(owner, 'POST', '/payments', bodyOf(fields), headers);
  const read = async (member: TestMember, id: string, query = '') =>
    ok<{ payment: Payment; leads: { id: string; amount: string; state: string }[] }>(
      await call(member, 'GET', `/payments/${id}${query}`),
    );
  const settled = async (id: string, state: string) => {
    await expect.poll(async () => (await read(owner, id)).payment).toMatchObject({ state });
  };
  async function approved(createdAt = '2026-01-15T12:00:00Z', member = publisher, campaignId?: string) {
    const lead = workspace.lead(member, {
      createdAt: new Date(createdAt),
      status: 'Approved',
      ...(campaignId !== undefined && { campaignId }),
    });
    await fixture.leads.insert([lead]);
    return lead.id;
  }

  test('pays what the statement shows as Approved, is shown to its publisher, and is cancelled by an owner', async () => {
    const extra = await workspace.addCampaign('EXTRA');
    await setPayout(eur('12.50'));
    ok(await call(owner, 'PATCH', `/campaigns/${extra}`, { payout: eur('0.0001') }));
    // In Berlin, the first lead is of the month, and the last one is not.
    const ids = [await approved('2025-12-31T23:30:00Z'), await approved(), await approved()];
    const inExtra = await approved(undefined, publisher, extra);
    const others = [await approved('2026-01-31T23:30:00Z'), await approved(undefined, other)];

    const key = { 'Idempotency-Key': 'p-1' };
    const given = { note: 'Invoice 4711', campaignCode: 'DEMO' };
    const { payment } = ok<{ payment: Payment }>(await pay(given, key));
    expect(payment).toEqual({
      id: payment.id,
      number: 1,
      userId: publisher.userId,
      createdBy: owner.userId,
      from: '2025-12-31T23:00:00.000Z',
      to: '2026-01-31T23:00:00.000Z',
      currency: 'EUR',
      date: '2026-02-03',
      ...given,
      state: 'paying',
      total: 3,
      leads: 0,
      amount: '0',
      skipped: 0,
      returned: 0,
      kept: 0,
      createdAt: expect.any(String),
    });
    await settled(payment.id, 'paid');
    expect(ok<{ payment: Payment }>(await pay(given, key)).payment).toMatchObject({ number: 1, leads: 3 });
    expect((await pay({ ...given, date: '2026-02-04' }, key)).status).toBe(422);
    const second = ok<{ payment: Payment }>(await pay());
    await settled(second.payment.id, 'paid');
    expect((await pay()).status).toBe(409);

    const statuses = await Promise.all([...ids, inExtra, ...others].map((id) => leads.get(owner, id)));
    expect(statuses.map(({ status }) => status)).toEqual([
      'Paid',
      'Paid',
      'Paid',
      'Paid',
      'Approved',
      'Approved',
    ]);
    const { totals } = ok<{ totals: object[] }>(
      await call(publisher, 'GET', '/statements?from=2026-01-01&to=2026-01-31&zone=Europe/Berlin'),
    );
    expect(totals).toEqual([{ status: 'Paid', currency: 'EUR', leads: 4, amount: '37.5001' }]);

    const listOf = async (member: TestMember, query = '') => {
      const answer = await call(member, 'GET', `/payments${query}`);
      return {
        numbers: ok<Payment[]>(answer).map(({ number }) => number),
        link: String(answer.headers['link']),
      };
    };
    expect((await listOf(owner)).numbers).toEqual([2, 1]);
    expect((await listOf(publisher)).numbers).toEqual([2, 1]);
    expect((await listOf(other)).numbers).toEqual([]);
    expect((await listOf(other, `?user=${publisher.userId}`)).numbers).toEqual([]);
    const first = await listOf(owner, '?limit=1');
    const cursor = /cursor=([^&>]+)/.exec(first.link)?.[1];
    expect([first.numbers, (await listOf(owner, `?limit=1&cursor=${cursor}`)).numbers]).toEqual([[2], [1]]);
    expect((await call(other, 'GET', `/payments/${payment.id}`)).status).toBe(404);

    const page = await call(publisher, 'GET', `/payments/${payment.id}?limit=2`);
    const next = /cursor=([^&>]+)/.exec(String(page.headers['link']))?.[1];
    const rest = await read(publisher, payment.id, `?limit=2&cursor=${next}`);
    const paid = ids.toSorted().map((id) => ({ id, amount: '12.5', state: 'paid' }));
    expect([...ok<{ leads: object[] }>(page).leads, ...rest.leads]).toEqual(paid);
    expect((await call(publisher, 'GET', `/payments/${payment.id}?cursor=x`)).status).toBe(400);
    const csv = await call(publisher, 'GET', `/payments/${payment.id}`, undefined, { Accept: 'text/csv' });
    expect(csv.headers['content-disposition']).toBe('attachment; filename="payment-1.csv"');
    const lines = paid.map(({ id }) => `${id},12.5,EUR,paid`);
    expect(csv.text).toBe(['leadId,amount,currency,state', ...lines, ''].join('\r\n'));

    const cancelling = `/payments/${payment.id}/cancel`;
    const manager = await workspace.addMember('manager');
    expect((await call(manager, 'POST', cancelling, { reason: 'r' })).status).toBe(403);
    expect((await call(owner, 'POST', cancelling, {})).status).toBe(400);
    ok(await call(owner, 'POST', cancelling, { reason: 'The bank returned it' }));
    await settled(payment.id, 'cancelled');
    ok(await call(owner, 'POST', cancelling, { reason: 'again' }));
    const after = await leads.get(owner, ids[0] ?? '');
    expect(after).toMatchObject({ status: 'Approved', payout: { ...eur('12.5'), rule: 'campaign' } });
    expect((await leads.history(publisher, ids[0] ?? '')).slice(1)).toMatchObject([
      { to: 'Paid', reason: 'Payment 1', userId: owner.userId },
      { to: 'Approved', reason: 'Payment 1 canceled: The bank returned it' },
    ]);
    expect((await listOf(publisher)).numbers).toEqual([2, 1]);
    expect((await read(publisher, payment.id)).payment).toMatchObject({
      leads: 3,
      amount: '37.5',
      returned: 3,
    });
    const log = await call(owner, 'GET', '/audit');
    const actions = log.json<{ action: string; targetId: string }[]>();
    expect(
      actions
        .filter(({ action }) => action.startsWith('payment.'))
        .map(({ action, targetId }) => [action, targetId]),
    ).toEqual([
      ['payment.canceled', payment.id],
      ['payment.created', second.payment.id],
      ['payment.created', payment.id],
    ]);
  });

  test('with invalid fields is answered with 400 that names the field', async () => {
    const cases: [fields: object, pointer: string][] = [
      [{ from: '2026-02-01' }, '#/to'],
      [{ to: '2037-01-01' }, '#/to'],
      [{ from: '9999-12-01', to: '9999-12-31' }, '#/to'],
      [{ from: '1969-12-31' }, '#/from'],
      [{ from: '2026-02-30' }, '#/from'],
      [{ zone: 'Mars/Base' }, '#/zone'],
      [{ currency: 'eur' }, '#/currency'],
      [{ date: '0000-01-01' }, '#/date'],
      [{ date: '2026-02-30' }, '#/date'],
      [{ note: '' }, '#/note'],
      [{ note: 'a\0b' }, '#/note'],
      [{ userId: 'x' }, '#/userId'],
      [{ status: 'Paid' }, '#/status'],
    ];
    for (const [fields, pointer] of cases) {
      const answer = await pay(fields, { Accept: 'application/problem+json' });
      const { errors } = answer.json<{ errors?: { pointer: string }[] }>();
      expect([fields, answer.status, errors?.[0]?.pointer]).toEqual([fields, 400, pointer]);
    }
  });
});
