import { afterAll, expect, onTestFinished, test } from 'vitest';
import { startCrm } from './crm.ts';
import { signInAs, type Visitor } from './visitor.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const busy = await fixture.createWorkspace();
const { owner: neighbor } = await fixture.createWorkspace();
const lead = busy.lead(busy.owner);
await fixture.leads.insert([lead]);

test.each([
  {
    name: '20 overviews',
    // Overviews and payments wait for a lock. Searches and counts do not read these tables.
    table: 'lead_tally',
    request: (visitor: Visitor) => visitor.get('/overview?from=2026-01-01&to=2026-01-31&zone=UTC'),
    patterns: ['%width_bucket%'],
    most: 1,
  },
  {
    name: '20 payments',
    table: 'payment',
    request: (visitor: Visitor) =>
      visitor.send('POST', '/console/payments', {
        userId: busy.owner.userId,
        from: '2026-01-01',
        to: '2026-01-31',
        currency: 'EUR',
        date: '2026-02-01',
      }),
    // The first payment waits for the table. Without a queue, the others would wait for the lock of the workspace.
    patterns: ['%FROM payment WHERE workspace_id%', '%FROM workspace%FOR NO KEY UPDATE%'],
    most: 1,
  },
  {
    name: '20 histories',
    table: 'lead_change',
    request: (visitor: Visitor) => visitor.get(`/order/leads/${lead.id}/history`),
    patterns: ['%FROM lead_change%'],
    // Half of the connections of pages.
    most: 3,
  },
] as const)(
  'searches, counts and exports of a workspace are answered while another workspace requests $name at once',
  async ({ table, request, patterns, most }) => {
    const { visitor } = await signInAs(service, busy, 'owner');
    const release = await fixture.holdTable(table, 'ACCESS EXCLUSIVE');
    onTestFinished(release);
    const answered = Promise.allSettled(Array.from({ length: 20 }, () => request(visitor)));
    const blocked = () => fixture.countBlocked(...patterns);
    await expect.poll(blocked).toBeGreaterThanOrEqual(1);
    const list = (query: string, accept = 'application/json') =>
      service.send({ path: `/api/v1/order/leads${query}`, headers: { ...neighbor.headers, Accept: accept } });
    const answers = await Promise.all([list(''), list('?q=ada'), list('?count=exact'), list('', 'text/csv')]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await blocked()).toBeLessThanOrEqual(most);
    await release();
    await answered;
  },
);

test('a workspace reads one page at a time while another workspace sends requests', async () => {
  const release = await fixture.holdTable('lead', 'ACCESS EXCLUSIVE');
  onTestFinished(release);
  const get = (path: string, headers: object) =>
    service.send({ path: `/api/v1${path}`, headers: { ...headers } });
  const other = get('/campaigns', neighbor.headers);
  const pages = Array.from({ length: 5 }, () => get('/order/leads', busy.owner.headers));
  const blocked = () => fixture.countBlocked('%ORDER BY created_at%');
  await expect.poll(blocked).toBeGreaterThanOrEqual(1);
  expect((await other).status).toBe(200);
  expect(await blocked()).toBe(1);
  await release();
  expect((await Promise.all(pages)).map(({ status }) => status)).toEqual(pages.map(() => 200));
});
