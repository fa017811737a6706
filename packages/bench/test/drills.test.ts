import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Broker } from '@leads/core/nats';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { startNats } from '@leads/local-stack/processes/nats-server';
import { openFixture } from '@leads/test-kit/fixture';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { describe, expect, test, vi } from 'vitest';
import type { DrillFigures } from '../src/drills/drill.ts';
import { smallDiskObstacle } from '../src/drills/small-disk.ts';
import { countUnexpected, longestGapMs, type RecordedAnswer } from '../src/load/answers.ts';
import { pidsOfTree } from '../src/process-tree.ts';
import { verifyLeads } from '../src/stack/verify-leads.ts';
import { runBench, startBench } from './run-bench.ts';

/**
 * Runs scenarios at a rate that a busy machine can serve. The guarantees hold at any rate; only the bench
 * measures times.
 */
async function drill(scenarios: readonly string[], rate = 15): Promise<DrillFigures[]> {
  const selection = ['--scenarios', scenarios.join(','), '--share-stacks'];
  const args = ['faults', '--short', '--rate', `${rate}`, ...selection, '--json'];
  const { stdout, stderr } = await runBench(args);
  const { drills } = JSON.parse(stdout) as { drills: DrillFigures[] };
  expect(
    drills.map(({ scenario }) => scenario),
    stderr,
  ).toEqual(scenarios);
  for (const figures of drills) {
    expect(figures, stderr).toMatchObject({
      lost: 0,
      duplicated: 0,
      missingEvents: 0,
      disorderedEvents: 0,
      unexpected: 0,
    });
    expect(figures.recoveryMs, figures.scenario).toBeGreaterThan(0);
    expect(figures.stored).toBeGreaterThanOrEqual(figures.acknowledged);
    expect(figures.acknowledged).toBeGreaterThan(0);
  }
  return drills;
}

const found = (figures: DrillFigures | undefined, name: string) =>
  figures?.notes.find((note) => note.name.startsWith(name))?.found;

// Concurrent, since the tests mostly wait.
describe.concurrent('every acknowledged lead is stored once, and its events are published in order', () => {
  test('and delivered to webhooks, while services, Postgres and NATS are killed or paused, and keys are revoked', async () => {
    const drills = await drill([
      'intake-killed',
      'relay-killed',
      'payments-killed',
      'postgres-killed',
      'postgres-frozen',
      'postgres-down',
      'nats-killed',
      'key-revoked',
    ]);
    for (const { scenario, deliveries, missingDeliveries } of drills) {
      expect(deliveries, scenario).toBeGreaterThan(0);
      expect(missingDeliveries, scenario).toBe(0);
    }
    const [intakeKilled, , paymentsKilled, postgresKilled, , postgresDown, natsKilled, revoked] = drills;
    expect(intakeKilled?.broken).toBeGreaterThan(0);
    expect(found(paymentsKilled, 'paid once, approved once')).toBe('2000, 2000');
    expect(Number.parseFloat(found(postgresKilled, 'accepted since the first kill') ?? '')).toBeGreaterThan(
      95,
    );
    expect(postgresDown?.seconds).toBeGreaterThan(12);
    expect(Number.parseFloat(found(postgresDown, 'accepted meanwhile') ?? '')).toBeGreaterThan(95);
    expect(found(natsKilled, 'acknowledged while both were down')).toBe('0');
    expect(natsKilled?.unavailable).toBeGreaterThan(0);
    expect(found(revoked, 'its answer to a known key')).toBe('200');
    expect(found(revoked, 'its answer to an unknown key')).toBe('503');
  });

  test('while commits are cut, Postgres is replaced or out of disk space, and brokers of a cluster are killed', async () => {
    const [commitCut, , cluster] = await drill(['commit-cut', 'postgres-replaced', 'nats-cluster']);
    expect(commitCut).toMatchObject({ acknowledged: 20, stored: 20 });
    expect(found(commitCut, 'cut')).toBe('20');
    expect(found(cluster, 'acknowledged, Postgres and two NATS down')).toBe('0');
    if (smallDiskObstacle() !== undefined) return;
    // The load fills the buffer of 1 MB within seconds.
    const [full] = await drill(['disks-full'], 40);
    expect(full?.unavailable).toBeGreaterThan(0);
  });
});

test('SIGTERM during a fault ends every process of the drill and removes its directory', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'leads-stopped-'));
  chmodSync(parent, 0o711);
  const args = ['faults', '--short', '--rate', '15', '--scenarios', 'postgres-frozen', '--data-dir', parent];
  const bench = startBench(args);
  const ended = once(bench, 'exit') as Promise<[number | null]>;
  const pids = () => pidsOfTree(bench.pid ?? 0);
  const state = (pid: number) => {
    try {
      return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1] ?? 'gone';
    } catch {
      return 'gone';
    }
  };
  // A paused Postgres is the hardest process to stop.
  await vi.waitFor(() => expect(pids().map(state)).toContain('T'), { timeout: 60_000, interval: 50 });
  const started = pids();
  // The bench, Postgres and its processes, nats-server, both services and the load process.
  expect(started.length).toBeGreaterThan(6);
  expect(readdirSync(parent)).toHaveLength(1);

  bench.kill('SIGTERM');
  expect(await ended).toEqual([143, null]);
  expect(readdirSync(parent)).toEqual([]);
  const alive = () => started.filter((pid) => !['gone', 'Z'].includes(state(pid)));
  // The bench does not wait for the load process.
  await vi.waitFor(() => expect(alive()).toEqual([]), { timeout: 60_000 });
  rmSync(parent, { recursive: true, force: true });
});

test('verifyLeads() counts lost and duplicated leads, and missing, disordered and repeated events', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'leads-check-'));
  await using nats = await startNats({ binary: await findNatsServer(), dataDir: directory });
  await using database = await createTestDatabase();
  await using fixture = openFixture(database.url);
  const workspace = await fixture.createWorkspace();
  const store = async (s1: string, version: number) => {
    const lead = workspace.lead(workspace.owner, { s1 });
    await fixture.leads.insert([lead]);
    await fixture.sql('UPDATE lead SET version = $2 WHERE id = $1', [lead.id, version]);
    return lead.id;
  };
  const [kept, changed, twin] = [await store('a', 1), await store('b', 3), await store('b', 1)];

  await using broker = new Broker({ url: nats.url, name: 'test' });
  expect(await broker.connected(60_000)).toBe(true);
  const { streams } = await broker.manager();
  await streams.add({ name: 'LEADS', subjects: ['leads.>'] });
  const publish = async (id: string) => {
    await broker.jetStream.publish('leads.test', JSON.stringify({ id }));
  };
  const answers = (ids: readonly string[]): RecordedAnswer[] =>
    ids.map((id, at) => ({ at, latencyMs: 1, status: '200', id }));
  const check = (ids: readonly string[]) =>
    verifyLeads(answers(ids), { databaseUrl: database.url, natsUrl: nats.url });

  expect(await check([kept, changed])).toEqual({
    acknowledged: 2,
    lost: 0,
    duplicated: 1,
    stored: 3,
    missingEvents: 5,
    disorderedEvents: 0,
    repeatedEvents: 0,
  });
  for (const id of [`${kept}.1`, `${changed}.1`, `${changed}.3`, `${changed}.2`, `${kept}.1`])
    await publish(id);
  expect(await check([kept, kept, '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'])).toEqual({
    acknowledged: 3,
    lost: 1,
    duplicated: 2,
    stored: 3,
    missingEvents: 1,
    disorderedEvents: 1,
    repeatedEvents: 1,
  });
  await publish(`${twin}.1`);
  expect((await check([])).missingEvents).toBe(0);
  rmSync(directory, { recursive: true, force: true });
});

test('longestGapMs() counts acknowledgements only, and countUnexpected() ignores broken connections', () => {
  const answers: RecordedAnswer[] = [
    { at: 100, latencyMs: 5, status: '200', id: 'a' },
    { at: 150, latencyMs: 5, status: '503', id: undefined },
    { at: 300, latencyMs: 5, status: '200', id: 'b' },
    { at: 350, latencyMs: 5, status: 'broken', id: undefined },
    { at: 360, latencyMs: 5, status: '500', id: undefined },
    { at: 400, latencyMs: 5, status: '200', id: 'c' },
  ];
  expect(longestGapMs(answers)).toBe(200);
  expect(countUnexpected(answers)).toBe(1);
});
