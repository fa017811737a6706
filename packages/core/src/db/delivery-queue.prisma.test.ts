import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  addTenant,
  changeOf,
  leadOf,
  longDescription,
  storeEdits,
  type Tenant,
} from '../../test/database.ts';
import { openTestDatabase } from '../../test/open-test-database.ts';
import { countReads } from '../../test/count-reads.ts';
import type { AttemptOutcome, ClaimedDelivery, ClaimedPostback } from '../delivery/delivery-queue.ts';
import { planPostback } from '../delivery/plan-postback.ts';
import type { StoredLead } from '../lead/lead.ts';
import type { LeadChange } from '../lead/lead-store.ts';
import { newId } from '../uuid.ts';
import { createDeliveryNotices } from './delivery-notices.prisma.ts';
import { createDeliveryQueue } from './delivery-queue.prisma.ts';
import { createDeliveryStore } from './delivery-store.prisma.ts';
import { createLeadStore } from './lead-store.prisma.ts';
import { createPostbackStore } from './postback-store.prisma.ts';
import { createSealedTextStore } from './sealed-texts.prisma.ts';
import { createWebhookStore } from './webhook-store.prisma.ts';

const [database, opened] = await openTestDatabase();
const [tenant, other] = [await addTenant(database, 'a'), await addTenant(database, 'b')];
const leaseMs = 60_000;

beforeEach(() => database.query('DELETE FROM delivery_endpoint; DELETE FROM delivery_outbox'));

const queue = () => createDeliveryQueue(opened);
const leads = () => createLeadStore(opened);
const outboxRows = () => database.query('SELECT workspace_id FROM delivery_outbox ORDER BY id');

async function addEndpoint({ workspaceId }: Tenant = tenant): Promise<string> {
  const id = newId();
  await createWebhookStore(opened).create(workspaceId, {
    id,
    url: 'https://example.com',
    events: ['lead.created', 'lead.updated', 'lead.status_changed'],
    statuses: [],
    campaignIds: [],
    includesImports: false,
    headerNames: [],
    secret: 'sealed',
  });
  return id;
}
async function addPostback(url = 'https://example.com'): Promise<string> {
  const { id } = await createPostbackStore(opened).create(tenant.workspaceId, {
    id: newId(),
    url,
    method: 'GET',
    statuses: ['OnHold', 'Approved'],
    includesImports: false,
    sendsWithoutS1: true,
  });
  return id;
}
async function planAll(): Promise<void> {
  while ((await queue().plan(10)).statements > 0);
}
/** Postgres rounds the times of rows to milliseconds, so a row can be due half a millisecond after its statement. */
const untilDue = () => sleep(1);
async function claim(id: string, count = 100): Promise<ClaimedDelivery[]> {
  await untilDue();
  return queue().claim(new Map([[id, count]]), leaseMs);
}
const success = ({ id, endpointId, leaseId, attempts }: ClaimedDelivery): AttemptOutcome => ({
  id,
  endpointId,
  leaseId,
  attempts: attempts + 1,
  state: 'delivered',
  attempt: { isSuccess: true, durationMs: 1, statusCode: 200, isDisableRequested: false },
});
const delivered = (claimed: ClaimedDelivery, requestHash: string): AttemptOutcome => {
  const { attempt, ...outcome } = success(claimed);
  return { ...outcome, ...(attempt && { attempt: { ...attempt, requestHash } }) };
};
/** The outcome of a failed attempt. The next one is due after `retryMs`. */
const failure = (claimed: ClaimedDelivery, retryMs: number): AttemptOutcome => ({
  ...success(claimed),
  state: 'waiting',
  retryMs,
  attempt: { isSuccess: false, durationMs: 1, statusCode: 502, isDisableRequested: false },
});
const scope = () => ({ workspaceId: tenant.workspaceId, userId: undefined, isManager: true });
/** Changes an approved lead back. */
const undoOf = (lead: StoredLead) =>
  changeOf(lead, { lead: { status: 'OnHold' }, change: { status: { from: 'Approved', to: 'OnHold' } } });
/** Claims the only due delivery of a postback, and plans its request. */
async function claimPlanned(postbackId: string) {
  const claims = await claim(postbackId);
  expect(claims).toMatchObject([{ postback: {} }]);
  const [claimed] = claims as [ClaimedDelivery & { readonly postback: ClaimedPostback }];
  const { leadId = '', version = 0 } = claimed;
  const eventOf = await queue().readEvents(tenant.workspaceId, [{ leadId, version }]);
  const plan = planPostback(claimed, eventOf(leadId, version), { hash: (text) => text });
  return 'outcome' in plan
    ? { claimed, state: plan.outcome.state, requestHash: '' }
    : { claimed, state: 'sent', requestHash: plan.log?.requestHash ?? '' };
}

/** Delivers the first status of a lead to a postback. Returns its claim, and a change of the lead that is not made yet. */
async function deliverFirstStatus() {
  const id = await addPostback('https://example.com/{status}');
  const lead = leadOf(tenant);
  await leads().insert([lead]);
  await planAll();
  const first = await claimPlanned(id);
  await queue().complete([delivered(first.claimed, first.requestHash)]);
  return { id, first, approved: changeOf(lead) };
}

test('an event from before the creation of an endpoint is not sent to it, and one from before its enabling is skipped', async () => {
  const enabled = await addEndpoint();
  const [before, after] = [leadOf(tenant), leadOf(tenant)];
  await leads().insert([before]);
  await untilDue();
  const created = await addEndpoint();
  const webhooks = createWebhookStore(opened);
  await webhooks.update(tenant.workspaceId, enabled, { enabled: false });
  await webhooks.update(tenant.workspaceId, enabled, { enabled: true });
  await leads().insert([after]);
  await planAll();
  const planned = await database.query(
    'SELECT endpoint_id, lead_id, state FROM delivery ORDER BY endpoint_id, state',
  );
  expect(planned).toEqual([
    { endpoint_id: enabled, lead_id: before.id, state: 'skipped' },
    { endpoint_id: enabled, lead_id: after.id, state: 'waiting' },
    { endpoint_id: created, lead_id: after.id, state: 'waiting' },
  ]);
});

test('a postback of a campaign does not replace another one for an event from before its creation', async () => {
  const general = await addPostback();
  await leads().insert([leadOf(tenant)]);
  await untilDue();
  await createPostbackStore(opened).create(tenant.workspaceId, {
    id: newId(),
    url: 'https://example.com',
    method: 'GET',
    campaignId: tenant.campaignId,
    statuses: ['OnHold'],
    includesImports: false,
    sendsWithoutS1: true,
  });
  await planAll();
  expect(await database.query('SELECT endpoint_id FROM delivery')).toEqual([{ endpoint_id: general }]);
});

test('one statement writes one row of the outbox for each workspace with an endpoint, and none for others', async () => {
  await leads().insert([leadOf(tenant), leadOf(other)]);
  expect(await outboxRows()).toEqual([]);
  await addEndpoint();
  const [first, second] = [leadOf(tenant), leadOf(tenant)];
  await leads().insert([first, second, leadOf(other)]);
  await leads().change(tenant.workspaceId, [changeOf(first), changeOf(second)]);
  expect(await outboxRows()).toEqual([
    { workspace_id: tenant.workspaceId },
    { workspace_id: tenant.workspaceId },
  ]);
  await planAll();
  expect(await outboxRows()).toEqual([]);
  const planned = await database.query(
    `SELECT lead_id, version, type, state FROM delivery ORDER BY lead_id, version`,
  );
  expect(planned).toEqual(
    [first, second].flatMap(({ id }) => [
      { lead_id: id, version: 1, type: 'lead.created', state: 'waiting' },
      { lead_id: id, version: 2, type: 'lead.status_changed', state: 'waiting' },
    ]),
  );
});

test('a transaction that commits after later ones loses no event, and no event is planned twice', async () => {
  const id = await addEndpoint();
  const late = leadOf(tenant);
  const columns =
    'id, workspace_id, campaign_id, user_id, source, status, name, phone, created_at, updated_at';
  await database.query('BEGIN');
  await database.query(
    `INSERT INTO lead (${columns}) VALUES ($1, $2, $3, $4, 'crm', 'OnHold', 'Ada', '1', now(), now())`,
    [late.id, late.workspaceId, late.campaignId, late.userId],
  );
  const others = Array.from({ length: 20 }, () => leadOf(tenant));
  for (const lead of others) await leads().insert([lead]);
  await Promise.all([planAll(), planAll(), planAll()]);
  expect((await claim(id)).map(({ leadId = '' }) => leadId).toSorted()).toEqual(
    others.map((lead) => lead.id).toSorted(),
  );
  await database.query('COMMIT');
  await planAll();
  expect((await claim(id)).map(({ leadId }) => leadId)).toEqual([late.id]);
});

test('workers claim each delivery once; after the lease it is due again, and the earlier result is ignored', async () => {
  const id = await addEndpoint();
  await leads().insert(Array.from({ length: 30 }, () => leadOf(tenant)));
  await planAll();
  expect(await queue().dueEndpoints()).toEqual([{ id, workspaceId: tenant.workspaceId }]);
  const claims = await Promise.all([claim(id, 10), claim(id, 10), claim(id, 10), claim(id, 10)]);
  const ids = claims.flat().map((each) => each.id);
  expect([ids.length, new Set(ids).size]).toEqual([30, 30]);
  expect(await queue().dueEndpoints()).toEqual([]);
  await database.query('UPDATE delivery SET next_attempt_at = now()');
  const again = await claim(id);
  expect(again).toHaveLength(30);
  const states = async () =>
    database.query('SELECT state, count(*)::int AS count FROM delivery GROUP BY state');
  await queue().complete(claims.flat().map(success));
  expect(await states()).toEqual([{ state: 'waiting', count: 30 }]);
  await queue().complete(again.map(success));
  expect(await states()).toEqual([{ state: 'delivered', count: 30 }]);
});

test('changes and deliveries know how long they waited, which is 0 without changes', async () => {
  const id = await addEndpoint();
  expect(await queue().plan(10)).toEqual({ statements: 0, lateSeconds: 0 });
  await leads().insert([leadOf(tenant)]);
  await leads().insert([leadOf(tenant)]);
  await database.query(
    `UPDATE delivery_endpoint SET created_at = now() - interval '1 day', enabled_at = now() - interval '1 day';
    UPDATE delivery_outbox SET created_at = now() - interval '1 hour' WHERE id = (SELECT min(id) FROM delivery_outbox)`,
  );
  const { statements, lateSeconds } = await queue().plan(10);
  expect([statements, Math.floor(lateSeconds / 3_600)]).toEqual([2, 1]);
  await database.query(`UPDATE delivery SET next_attempt_at = now() - interval '2 hours'`);
  expect((await claim(id)).map((each) => Math.floor(each.lateSeconds / 3_600))).toEqual([2, 2]);
});

test('a postback that is sent again is compared with no earlier request, also with one that ends meanwhile', async () => {
  const { workspaceId } = tenant;
  const id = await addPostback();
  const lead = leadOf(tenant);
  await leads().insert([lead]);
  await leads().change(workspaceId, [changeOf(lead)]);
  await planAll();
  const store = createDeliveryStore(opened);
  const claimOne = async (version: number, hash: string | undefined) => {
    const [claimed, ...others] = await claim(id);
    expect([claimed?.version, claimed?.postback?.lastRequestHash, others]).toEqual([version, hash, []]);
    return claimed as ClaimedDelivery;
  };
  const original = await claimOne(1, undefined);
  await queue().complete([delivered(original, 'hash')]);
  const second = await claimOne(2, 'hash');
  await queue().complete([{ ...second, state: 'skipped', skipReason: 'unchanged' }]);

  await store.resend(scope(), original.id);
  const first = await claimOne(1, undefined);
  await store.resend(scope(), second.id);
  await queue().complete([delivered(first, 'hash')]);
  const again = await claimOne(2, undefined);
  await queue().complete([{ ...again, attempts: 1, state: 'failed' }]);
  expect(
    await store.recover(workspaceId, id, { since: new Date(0), until: new Date(Date.now() + 60_000) }, 10),
  ).toBe(1);
  await claimOne(2, 'hash');
});

test('a postback that is sent again is retried after a failure, also if a newer status of the lead was sent', async () => {
  const id = await addPostback('https://example.com/{status}');
  const lead = leadOf(tenant);
  await leads().insert([lead]);
  await leads().change(tenant.workspaceId, [changeOf(lead)]);
  await planAll();
  const first = await claimPlanned(id);
  await queue().complete([delivered(first.claimed, first.requestHash)]);
  const second = await claimPlanned(id);
  await queue().complete([delivered(second.claimed, second.requestHash)]);

  await createDeliveryStore(opened).resend(scope(), first.claimed.id);
  const again = await claimPlanned(id);
  expect(again).toMatchObject({ state: 'sent', claimed: { version: 1, attempts: 0 } });
  await queue().complete([failure(again.claimed, 0)]);
  expect(await claimPlanned(id)).toMatchObject({ state: 'sent', claimed: { version: 1, attempts: 1 } });
});

test('a request that equals the last delivered one is sent if the result of another request after it is unknown', async () => {
  const { id, first, approved } = await deliverFirstStatus();
  await leads().change(tenant.workspaceId, [approved]);
  await planAll();
  const second = await claimPlanned(id);
  await queue().complete([failure(second.claimed, 3_600_000)]);
  await leads().change(tenant.workspaceId, [undoOf(approved.lead)]);
  await planAll();
  const third = await claimPlanned(id);
  expect(third).toMatchObject({ state: 'sent', requestHash: first.requestHash, claimed: { version: 3 } });
});

describe('a status that is planned after a newer one', () => {
  /** Returns the plan of the second status of a lead. Its planning commits after the third one has a given outcome. */
  async function planLate(outcomeOf?: (third: ClaimedDelivery) => AttemptOutcome | undefined) {
    const { id, approved } = await deliverFirstStatus();
    await leads().change(tenant.workspaceId, [approved]);
    await database.query('BEGIN');
    await database.query('SELECT plan_deliveries(1)');
    await leads().change(tenant.workspaceId, [undoOf(approved.lead)]);
    await planAll();
    if (outcomeOf !== undefined) {
      const outcome = outcomeOf((await claimPlanned(id)).claimed);
      if (outcome !== undefined) await queue().complete([outcome]);
    }
    await database.query('COMMIT');
    const { claimed, state } = await claimPlanned(id);
    expect(claimed).toMatchObject({ version: 2, attempts: 0 });
    return state;
  }

  test('is sent first if the newer one waits for its first attempt', async () => {
    expect(await planLate()).toBe('sent');
  });

  test.each<[string, (third: ClaimedDelivery) => AttemptOutcome | undefined]>([
    ['is being sent', () => undefined],
    ['was delivered', (third) => delivered(third, 'hash')],
    ['waits for a retry', (third) => failure(third, 3_600_000)],
    ['was skipped as unchanged', (third) => ({ ...third, state: 'skipped', skipReason: 'unchanged' })],
  ])('is superseded if the newer one %s', async (_, outcomeOf) => {
    expect(await planLate(outcomeOf)).toBe('superseded');
  });
});

test('the planning of a lead that is being erased waits, and leaves no delivery; so does an erasure after it', async () => {
  await addEndpoint();
  const [first, second] = [leadOf(tenant), leadOf(tenant)];
  await leads().insert([first]);
  await database.query('BEGIN');
  await database.query('SELECT FROM erase_leads($1)', [[first.id]]);
  const planning = planAll();
  await sleep(300);
  await database.query('COMMIT');
  await planning;
  await leads().insert([second]);
  await planAll();
  await database.query('SELECT FROM erase_leads($1)', [[second.id]]);
  expect(await database.query('SELECT id FROM delivery')).toEqual([]);
});

test('events are read as they happened, and only for leads of the workspace', async () => {
  const [lead, foreign] = [leadOf(tenant), leadOf(other)];
  await leads().insert([lead, foreign]);
  await leads().change(tenant.workspaceId, [changeOf(lead)]);
  const refs = [lead, foreign].flatMap(({ id }) => [1, 2].map((version) => ({ leadId: id, version })));
  const eventOf = await queue().readEvents(tenant.workspaceId, refs);
  expect(eventOf(lead.id, 1)).toMatchObject({ type: 'lead.created', data: { lead: { status: 'OnHold' } } });
  expect(eventOf(lead.id, 2)).toMatchObject({
    type: 'lead.status_changed',
    data: { lead: { status: 'Approved' }, change: { from: 'OnHold', to: 'Approved' } },
  });
  expect([eventOf(lead.id, 3), eventOf(foreign.id, 1), eventOf(newId(), 1)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('the log keeps deliveries for the given time, and waiting ones until they end', async () => {
  const id = await addEndpoint();
  await leads().insert([leadOf(tenant), leadOf(tenant), leadOf(tenant)]);
  await planAll();
  const [old, ...recent] = await claim(id, 2);
  await queue().complete([old, ...recent].map((each) => success(each as ClaimedDelivery)));
  await database.query(
    `UPDATE delivery SET created_at = now() - interval '31 days' WHERE id = $1 OR state = 'waiting'`,
    [old?.id],
  );
  const before = new Date(Date.now() - 30 * 86_400_000);
  expect(await queue().deleteOld(before, 10)).toBe(1);
  expect(await database.query('SELECT id FROM delivery WHERE id = $1', [old?.id])).toEqual([]);
  expect(await queue().backlog()).toMatchObject({ waiting: 1, lagSeconds: expect.closeTo(31 * 86_400, -2) });
});

test('a re-encryption replaces the texts of a webhook only if they have not changed meanwhile', async () => {
  const id = await addEndpoint();
  const texts = createSealedTextStore(opened);
  const [listed] = await texts.list(undefined, 10);
  expect(listed).toEqual({ id, secret: 'sealed' });
  await createWebhookStore(opened).rotateSecret(
    tenant.workspaceId,
    id,
    'rotated',
    new Date(Date.now() + 60_000),
  );
  expect(await texts.replace(id, { secret: 'sealed' }, { secret: 'stale' })).toBe(false);
  const [rotated] = await texts.list(undefined, 10);
  expect(rotated).toEqual({ id, secret: 'rotated', previousSecret: 'sealed' });
  expect(await texts.replace(id, { secret: 'rotated' }, { secret: 'stale' })).toBe(false);
  // The column has milliseconds, so that `now()` could be rounded up to a time that is not over.
  await database.query(`UPDATE delivery_endpoint SET previous_secret_until = now() - interval '1 s'`);
  expect(await texts.replace(id, { secret: 'rotated' }, { secret: 'new' })).toBe(true);
  expect(await texts.replace(id, { secret: 'other' }, { secret: 'stale' })).toBe(false);
  expect(await texts.list(undefined, 10)).toEqual([{ id, secret: 'new' }]);
});

describe('notices', () => {
  const notices = () => createDeliveryNotices(opened);
  const incident = (id: string, fields: string) =>
    database.query(`UPDATE delivery_endpoint SET ${fields} WHERE id = $1`, [id]);
  const failing = `failures = 5, failing_since = now() - interval '25 hours'`;
  const claimNotices = async () => {
    await untilDue();
    return notices().claim(10, leaseMs);
  };

  beforeAll(() => database.query('UPDATE "user" SET email_verified = true'));

  test('are created once for each incident: 24 h without a success, and each disabling but that by a user', async () => {
    const id = await addEndpoint();
    await addEndpoint(other);
    await incident(id, `failures = 5, failing_since = now() - interval '23 hours'`);
    expect(await queue().createNotices()).toBe(0);
    await incident(id, failing);
    const created = await Promise.all([1, 2, 3].map(() => queue().createNotices()));
    expect(created.toSorted((a, b) => a - b)).toEqual([0, 0, 1]);
    expect(await claimNotices()).toMatchObject([
      { endpointId: id, userId: tenant.userId, email: 'a@example.io', kind: 'webhook', isCurrent: true },
    ]);
    for (const reason of ['failing', 'receiver']) {
      await incident(id, `disabled_at = now(), disabled_reason = '${reason}'`);
      expect([await queue().createNotices(), await queue().createNotices()]).toEqual([1, 0]);
      // The incident replaces the claimed notice about the one before.
      expect(await claimNotices()).toMatchObject([{ disabledReason: reason, attempts: 1, isCurrent: true }]);
      await incident(id, 'disabled_at = NULL, disabled_reason = NULL, failures = 0, failing_since = NULL');
      expect(await queue().createNotices()).toBe(0);
    }
    await incident(id, `disabled_at = now(), disabled_reason = 'user'`);
    expect(await queue().createNotices()).toBe(0);
  });

  test('are claimed once; after the lease they are due again, and the end of the earlier claim is ignored', async () => {
    const id = await addEndpoint();
    await incident(id, failing);
    await queue().createNotices();
    const claims = await Promise.all([claimNotices(), claimNotices(), claimNotices()]);
    const [first] = claims.flat();
    expect([claims.flat().length, first?.attempts]).toEqual([1, 1]);
    await database.query('UPDATE delivery_notice SET next_attempt_at = now()');
    const [again] = await claimNotices();
    expect(again).toMatchObject({ attempts: 2 });
    await notices().remove(claims.flat());
    await notices().retry(claims.flat(), 0);
    expect(await claimNotices()).toEqual([]);
    await notices().retry(again === undefined ? [] : [again], 0);
    const [last] = await claimNotices();
    expect(last).toMatchObject({ attempts: 3 });
    await notices().remove(last === undefined ? [] : [last]);
    expect(await database.query('SELECT FROM delivery_notice')).toEqual([]);
  });

  test('are not current after a recovery, for an unconfirmed address and for a member that became a publisher', async () => {
    const id = await addEndpoint();
    const isCurrent = async (change: string, undo: string) => {
      await incident(id, `${failing}, noticed_at = NULL`);
      await queue().createNotices();
      await database.query(change);
      const [notice] = await claimNotices();
      await database.query(undo);
      return notice?.isCurrent;
    };
    const setRole = (role: string) => `UPDATE member SET role = '${role}'`;
    const setConfirmed = (value: boolean) => `UPDATE "user" SET email_verified = ${value}`;
    expect(await isCurrent('SELECT 1', 'SELECT 1')).toBe(true);
    expect(
      await isCurrent('UPDATE delivery_endpoint SET failures = 0, failing_since = NULL', 'SELECT 1'),
    ).toBe(false);
    expect(await isCurrent(setRole('publisher'), setRole('owner'))).toBe(false);
    expect(await isCurrent(setConfirmed(false), setConfirmed(true))).toBe(false);
  });
});

test('the events of deliveries are read without the text of the changes between them', async () => {
  const lead = leadOf(tenant, { description: longDescription(1) });
  await leads().insert([lead]);
  await storeEdits(leads(), lead, 12);
  const counted = countReads(opened);
  const versions = [1, 12];
  const eventOf = await createDeliveryQueue(counted.database).readEvents(
    tenant.workspaceId,
    versions.map((version) => ({ leadId: lead.id, version })),
  );
  expect(versions.map((version) => eventOf(lead.id, version)?.data.lead.description)).toEqual(
    versions.map(longDescription),
  );
  expect(counted.takeBytes()).toBeLessThan(400_000);
});

test('an event is the same whichever other versions of its lead are read with it', async () => {
  let lead = leadOf(tenant, { city: 'Paris', extra: '{"a":1}' });
  await leads().insert([lead]);
  const steps: [lead: Partial<StoredLead>, change: Partial<LeadChange>][] = [
    [{ city: 'Rome' }, { fields: { city: { from: 'Paris', to: 'Rome' } } }],
    [{ status: 'Approved' }, { status: { from: 'OnHold', to: 'Approved' } }],
    [
      { city: undefined, extra: '{"b":2}' },
      { fields: { city: { from: 'Rome' }, extra: { from: { a: 1 } } } },
    ],
    [{ status: 'Trashed' }, { status: { from: 'Approved', to: 'Trashed' }, reason: 'No answer' }],
    [{ city: 'Oslo' }, { fields: { city: { to: 'Oslo' } } }],
  ];
  for (const [after, change] of steps) {
    const next = changeOf(lead, {
      lead: { status: lead.status, ...after },
      change: { status: undefined, fields: undefined, ...change },
    });
    await leads().change(tenant.workspaceId, [next]);
    lead = next.lead;
  }
  const all = [1, 2, 3, 4, 5, 6];
  const read = async (versions: readonly number[]) => {
    const refs = versions.map((version) => ({ leadId: lead.id, version }));
    const eventOf = await queue().readEvents(tenant.workspaceId, refs);
    return versions.map((version) => eventOf(lead.id, version));
  };
  const events = await read(all);
  expect(events.map((event) => event && [event.data.lead.status, event.data.lead.city])).toEqual([
    ['OnHold', 'Paris'],
    ['OnHold', 'Rome'],
    ['Approved', 'Rome'],
    ['Approved', undefined],
    ['Trashed', undefined],
    ['Trashed', 'Oslo'],
  ]);
  for (const first of all) {
    for (const second of all) {
      expect(await read([first, second])).toEqual([events[first - 1], events[second - 1]]);
    }
  }
});
