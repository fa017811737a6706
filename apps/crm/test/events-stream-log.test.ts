import { EventLogReader } from '@leads/core/event';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { startCrm } from './crm.ts';
import { disconnectWhile } from './disconnect.ts';
import { eventStreams, testEventStreams } from './event-stream-suite.ts';

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
