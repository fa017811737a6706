import { expect, onTestFinished, test } from 'vitest';
import { fairEventLog, FairQueue } from '../limits/index.ts';
import type { EventLog, EventPage } from './event-log.ts';
import { EventLogReader } from './event-log-reader.ts';
import { formatPosition } from './event-position.ts';
import type { EventStart, EventStep, StreamState } from './event-reader.ts';
import type { LeadEvent } from './lead-event.schema.ts';

const pageSize = 10;
const eventOf = (sequence: number) =>
  ({ id: String(sequence), type: 'lead.created' }) as unknown as LeadEvent;

/** A log of numbered events, each of one workspace, that counts its queries. */
function createLog() {
  const workspaces: string[] = [];
  const reads: string[] = [];
  let first = 1;
  let polls = 0;
  const state = (): StreamState => ({
    streamMs: 1,
    first,
    last: workspaces.length,
    firstAt: new Date(0),
    lastAt: new Date(0),
  });
  const log: EventLog = {
    publishNext: async () => 0,
    async state() {
      polls += 1;
      return state();
    },
    lastBefore: async () => undefined,
    async read(workspaceId, after): Promise<EventPage> {
      reads.push(`${workspaceId} ${after}`);
      const found = workspaces.flatMap((each, at) =>
        each === workspaceId && at >= after && at + 1 >= first ? [at + 1] : [],
      );
      const hasMore = found.length > pageSize;
      const page = found.slice(0, pageSize);
      return {
        events: page.map((sequence) => ({ sequence, event: eventOf(sequence) })),
        upTo: hasMore ? (page.at(-1) ?? after) : Math.max(after, workspaces.length),
        hasMore,
      };
    },
    workspacesAfter: async (position) =>
      new Map(
        workspaces
          .map((id, at): [string, number] => [id, at + 1])
          .filter(([, at]) => at > position && at >= first),
      ),
    dropOlderThan: async () => 0,
  };
  return {
    log,
    reads,
    add: (workspaceId: string, count = 1) => {
      for (let n = 0; n < count; n++) workspaces.push(workspaceId);
    },
    dropAll: () => (first = workspaces.length + 1),
    polls: () => polls,
  };
}

async function openReader(reader: EventLogReader, workspaceId = 'a', start: EventStart = 'oldest') {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const steps = await reader.open({ start, filter: { workspaceId }, signal: stop.signal });
  return { steps, stop };
}

/** Reads steps until there are `count` events. */
async function take(steps: AsyncGenerator<EventStep>, count: number): Promise<number[]> {
  const found: number[] = [];
  while (found.length < count) {
    const { value, done } = await steps.next();
    if (done === true) break;
    if (value.event !== undefined) found.push(Number(value.event.id));
  }
  return found;
}

test('a reader whose client reads nothing has read one page', async () => {
  const { log, reads, add } = createLog();
  add('a', 100);
  await using reader = new EventLogReader(log);
  const { steps } = await openReader(reader);
  expect(await take(steps, 3)).toEqual([1, 2, 3]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(reads).toEqual(['a 0']);
  expect(await take(steps, 97)).toHaveLength(97);
});

test('of two readings at once, one workspace has one, and another one is not delayed', async () => {
  const { log } = createLog();
  const running: string[] = [];
  let most: string[] = [];
  const watched: EventLog = {
    ...log,
    async read(workspaceId, after) {
      running.push(workspaceId);
      if (running.length > most.length) most = [...running];
      await new Promise(setImmediate);
      running.splice(running.indexOf(workspaceId), 1);
      return log.read(workspaceId, after);
    },
  };
  const fair = fairEventLog(watched, new FairQueue(2));
  await Promise.all([fair.read('a', 0), fair.read('a', 1), fair.read('a', 2), fair.read('b', 0)]);
  expect(most).toEqual(['a', 'b']);
});

/** A log whose pages are read one at a time, each when the test ends the one before. */
function createHeldLog() {
  const numbered = createLog();
  const queue = new FairQueue(1);
  const ends: (() => void)[] = [];
  const held: EventLog = {
    ...numbered.log,
    async read(workspaceId, after) {
      const page = await numbered.log.read(workspaceId, after);
      await new Promise<void>((resolve) => ends.push(resolve));
      return page;
    },
  };
  return {
    ...numbered,
    log: fairEventLog(held, queue),
    waiting: () => queue.load.waiting,
    /** Ends the read in progress, and waits for the next one. */
    endRead: async () => {
      ends.pop()?.();
      await expect.poll(() => ends.length, { interval: 1 }).toBe(1);
    },
  };
}

const after = (sequence: number): EventStart => ({ after: formatPosition({ streamMs: 1, sequence }) });

test('a read leaves the queue when the last of its readers ends, and a reader that ends does not wait', async () => {
  const { log, reads, add, waiting, endRead } = createHeldLog();
  add('a', 100);
  await using reader = new EventLogReader(log);
  const open = async (sequence: number) => {
    const { steps, stop } = await openReader(reader, 'a', after(sequence));
    return { stop, events: take(steps, 1) };
  };
  const first = await open(0);
  const [second, third, fourth] = await Promise.all([open(20), open(20), open(40)]);
  await expect.poll(waiting).toBe(2);
  second.stop.abort();
  expect(await second.events).toEqual([]);
  expect(waiting()).toBe(2);
  third.stop.abort();
  expect(await third.events).toEqual([]);
  await expect.poll(waiting).toBe(1);
  const fifth = await open(20);
  await expect.poll(waiting).toBe(2);
  await endRead();
  await endRead();
  expect(reads).toEqual(['a 0', 'a 40', 'a 20']);
  expect(await Promise.all([first.events, fourth.events])).toEqual([[1], [41]]);
  fifth.stop.abort();
  expect(await fifth.events).toEqual([]);
});

test('a reader gets a page in each round of the 50 other readers of its workspace', async () => {
  const { log, reads, add, waiting, endRead } = createHeldLog();
  add('a', 51 * 100);
  await using reader = new EventLogReader(log);
  // Readers at one position would share their pages.
  for (let n = 0; n <= 50; n++) {
    const { steps } = await openReader(reader, 'a', after(n * 100));
    void take(steps, 100);
    await expect.poll(waiting, { interval: 1 }).toBe(n);
  }
  for (let n = 0; n < 3 * 51; n++) await endRead();
  const turns = ['a 5000', 'a 5010', 'a 5020'].map((read) => reads.indexOf(read));
  expect(turns).toEqual([50, 101, 152]);
});

test('20 idle readers share each poll, and a workspace without new events is not read', async () => {
  const { log, reads, add, polls } = createLog();
  await using reader = new EventLogReader(log);
  const open = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => openReader(reader, n < 10 ? 'a' : 'b', 'now')),
  );
  const received = open.slice(0, 10).map(({ steps }) => take(steps, 1));
  for (const { steps } of open.slice(10)) void take(steps, 1);
  await expect.poll(() => reads.length).toBe(2);
  const before = polls();
  await expect.poll(() => polls()).toBeGreaterThan(before);
  // Each of the 20 readers would have polled once more by now.
  expect(polls() - before).toBeLessThan(20);
  add('a');
  expect(await Promise.all(received)).toEqual(Array.from({ length: 10 }, () => [1]));
  expect(reads).toEqual(['a 0', 'b 0', 'a 0']);
});

test('nothing is polled after the last reader has ended', async () => {
  const { log, polls } = createLog();
  await using reader = new EventLogReader(log);
  const { steps, stop } = await openReader(reader);
  const done = take(steps, 1);
  await expect.poll(polls).toBeGreaterThan(3);
  stop.abort();
  expect(await done).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const before = polls();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(polls()).toBe(before);
});

test('a reader that waits while unread events are dropped ends with events_gone', async () => {
  const { log, add, dropAll } = createLog();
  await using reader = new EventLogReader(log);
  const { steps } = await openReader(reader);
  const done = take(steps, 1);
  await new Promise((resolve) => setTimeout(resolve, 50));
  add('a', 5);
  dropAll();
  await expect(done).rejects.toMatchObject({ code: 'events_gone' });
});
