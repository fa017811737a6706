import { EventLogReader } from '@leads/core/event';
import type { TestMember } from '@leads/test-kit/fixture';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { startCrm } from './crm.ts';
import { disconnectWhile } from './disconnect.ts';
import { eventStreams, names, testEventStreams } from './event-stream-suite.ts';
import { leadsPath, ok } from './leads-api.ts';
import { queueLoad } from './queue-load.ts';

const crm = await startCrm();
const { fixture } = crm;

afterAll(() => crm[Symbol.asyncDispose]());

await testEventStreams(crm, {
  settings: {},
  async dropAllBut(count) {
    await fixture.sql(
      `DELETE FROM lead_event_log WHERE position <= (SELECT last_position - $1 FROM lead_event_log_state)`,
      [count],
    );
    const [row] = await fixture.sql<{ at: Date }>(
      'SELECT published_at AS at FROM lead_event_log ORDER BY position LIMIT 1',
    );
    return row?.at ?? new Date();
  },
  async loseStream() {
    await fixture.sql('TRUNCATE lead_event_log, lead_event_log_state');
  },
  async countEvents(workspaceId) {
    const [row] = await fixture.sql<{ events: number }>(
      `SELECT count(*)::int AS events FROM lead_event_log, unnest(lead_ids) AS entry (id)
       JOIN lead USING (id) WHERE workspace_id = $1`,
      [workspaceId],
    );
    return row?.events ?? 0;
  },
});

const { owner } = await eventStreams(crm);

test('an event stream whose client disconnects before the first read starts no timer', async () => {
  const release = await fixture.holdTable('lead_event_log_state', 'ACCESS EXCLUSIVE');
  const opened = vi.spyOn(EventLogReader.prototype, 'open');
  const timers = vi.spyOn(globalThis, 'setInterval');
  onTestFinished(async () => {
    await release();
    vi.restoreAllMocks();
  });
  await disconnectWhile(
    crm.service,
    [{ path: '/api/v1/events', headers: owner.headers }],
    () => opened.mock.calls.length === 1,
  );
  await release();
  // The route continues before this test does.
  await opened.mock.results[0]?.value;
  expect(timers).not.toHaveBeenCalled();
});

test('lists are answered while 50 streams of a workspace wait for events, and streams that end wait no longer', async () => {
  const { workspace, owner: busy, api, follow } = await eventStreams(crm);
  const { owner: neighbor } = await fixture.createWorkspace();
  const leads = Array.from({ length: 51 }, () => workspace.lead(busy));
  const first = await follow({ member: busy });
  await fixture.leads.insert(leads);
  ok(await api.edit(busy, leads[50]?.id ?? '', { city: 'London' }));
  await first.received(52);
  const positions = first.blocks.flatMap(({ id, data }) => (id === undefined || !data ? [] : id));
  first.close();
  // Earlier tests may have left streams.
  await expect.poll(eventReads).toEqual([0, 0]);
  // The reads of the 50 streams have the event of the edit, so they need this table. Lists do not.
  const release = await fixture.holdTable('lead_change', 'ACCESS EXCLUSIVE');
  onTestFinished(release);
  const members = [busy, ...(await Promise.all(names(4).map(() => workspace.addMember('manager'))))];
  const streams = await Promise.all(
    // Streams at one position would share their read. A key may have 10 streams.
    members.flatMap((member, m) =>
      positions.slice(10 * m, 10 * m + 10).map((after) => follow({ member, after })),
    ),
  );
  await expect.poll(eventReads).toEqual([1, 49]);
  const list = async ({ headers }: TestMember) =>
    (await crm.service.send({ path: leadsPath, headers: { ...headers } })).status;
  expect([await list(neighbor), await list(busy)]).toEqual([200, 200]);
  for (const stream of streams) stream.close();
  await expect.poll(eventReads).toEqual([1, 0]);
});

const eventReads = () => queueLoad(crm.service, 'event_reads');
