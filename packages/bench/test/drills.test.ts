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
import { countOthers, longestGapMs, type RecordedAnswer } from '../src/drills/answers.ts';
import { checkPromises } from '../src/drills/check.ts';
import type { DrillFigures } from '../src/drills/drill.ts';
import { smallDiskImpossible } from '../src/drills/small-disk.ts';
import { pidsOfTree } from '../src/process-tree.ts';
import { runBench, startBench } from './run-bench.ts';

/** Runs scenarios at a rate that a busy machine can serve. The promises hold at any rate; the bench prints the times. */
async function drill(scenarios: readonly string[], rate = 40): Promise<DrillFigures[]> {
  const args = ['faults', '--short', '--rate', `${rate}`, '--scenarios', scenarios.join(','), '--json'];
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
      others: 0,
    });
    expect(figures.recoveryMs, figures.scenario).toBeGreaterThan(0);
    expect(figures.stored).toBeGreaterThanOrEqual(figures.acknowledged);
    expect(figures.acknowledged).toBeGreaterThan(0);
  }
  return drills;
}

const found = (figures: DrillFigures | undefined, name: string) =>
  figures?.notes.find((note) => note.name.startsWith(name))?.found;

// Several at once, since most of their time they wait.
describe.concurrent('what was acknowledged is stored once and told in order', { timeout: 600_000 }, () => {
  test('whichever service is killed, and whichever commit is cut', async () => {
    const [intakeKilled, , commitCut] = await drill(['intake-killed', 'relay-killed', 'commit-cut']);
    expect(intakeKilled?.broken).toBeGreaterThan(0);
    expect(commitCut).toMatchObject({ acknowledged: 20, stored: 20 });
    expect(found(commitCut, 'cut')).toBe('20');
  });

  test('while Postgres is away for two minutes', async () => {
    const [down] = await drill(['postgres-down']);
    expect(down?.seconds).toBeGreaterThan(120);
    expect(Number.parseFloat(found(down, 'accepted meanwhile') ?? '')).toBeGreaterThan(95);
  });

  test('while Postgres is killed, stopped, replaced and without a disk', async () => {
    const [killed] = await drill(['postgres-killed', 'postgres-frozen', 'postgres-replaced']);
    expect(Number.parseFloat(found(killed, 'accepted from the first kill on') ?? '')).toBeGreaterThan(95);
    if (smallDiskImpossible() !== undefined) return;
    // Fills the buffer of 1 MB in some seconds.
    const [full] = await drill(['disks-full'], 250);
    expect(full?.refused).toBeGreaterThan(0);
  });

  test('while brokers are killed, and keys revoked', async () => {
    const [killed, cluster, revoked] = await drill(['nats-killed', 'nats-cluster', 'key-revoked']);
    expect(found(killed, 'acknowledged while both were away')).toBe('0');
    expect(killed?.refused).toBeGreaterThan(0);
    expect(found(cluster, 'acknowledged, Postgres and two NATS down')).toBe('0');
    expect(found(revoked, 'its answer to a known key')).toBe('200');
    expect(found(revoked, 'its answer to an unknown key')).toBe('503');
  });
});

test('told to end in the midst of a fault, it ends all that it has started and leaves nothing', {
  timeout: 120_000,
}, async () => {
  const parent = mkdtempSync(join(tmpdir(), 'leads-stopped-'));
  chmodSync(parent, 0o711);
  const args = ['faults', '--short', '--rate', '50', '--scenarios', 'postgres-frozen', '--data-dir', parent];
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
  // A Postgres that is stopped is the hardest to end.
  await vi.waitFor(() => expect(pids().map(state)).toContain('T'), { timeout: 60_000, interval: 50 });
  const started = pids();
  // The bench, Postgres and its processes, nats-server, both services, and who sends the leads.
  expect(started.length).toBeGreaterThan(6);
  expect(readdirSync(parent)).toHaveLength(1);

  bench.kill('SIGTERM');
  expect(await ended).toEqual([143, null]);
  expect(readdirSync(parent)).toEqual([]);
  const alive = () => started.filter((pid) => !['gone', 'Z'].includes(state(pid)));
  // Who sends the leads is not waited for.
  await vi.waitFor(() => expect(alive()).toEqual([]), { timeout: 5_000 });
  rmSync(parent, { recursive: true, force: true });
});

test('the checker finds what is lost, doubled, not told, and told in the wrong order', async () => {
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
  expect(await broker.connected(5_000)).toBe(true);
  const { streams } = await broker.manager();
  await streams.add({ name: 'LEADS', subjects: ['leads.>'] });
  const tell = async (id: string) => {
    await broker.jetStream.publish('leads.test', JSON.stringify({ id }));
  };
  const answers = (ids: readonly string[]): RecordedAnswer[] =>
    ids.map((id, at) => ({ at, tookMs: 1, status: '200', id }));
  const check = (ids: readonly string[]) =>
    checkPromises(answers(ids), { databaseUrl: database.url, natsUrl: nats.url });

  expect(await check([kept, changed])).toEqual({
    acknowledged: 2,
    lost: 0,
    duplicated: 1,
    stored: 3,
    missingEvents: 5,
    disorderedEvents: 0,
    repeatedEvents: 0,
  });
  for (const id of [`${kept}.1`, `${changed}.1`, `${changed}.3`, `${changed}.2`, `${kept}.1`]) await tell(id);
  expect(await check([kept, kept, '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'])).toEqual({
    acknowledged: 3,
    lost: 1,
    duplicated: 2,
    stored: 3,
    missingEvents: 1,
    disorderedEvents: 1,
    repeatedEvents: 1,
  });
  await tell(`${twin}.1`);
  expect((await check([])).missingEvents).toBe(0);
  rmSync(directory, { recursive: true, force: true });
});

test('gaps are between acknowledgements, and a connection that broke is no answer', () => {
  const answers: RecordedAnswer[] = [
    { at: 100, tookMs: 5, status: '200', id: 'a' },
    { at: 150, tookMs: 5, status: '503', id: undefined },
    { at: 300, tookMs: 5, status: '200', id: 'b' },
    { at: 350, tookMs: 5, status: 'broken', id: undefined },
    { at: 360, tookMs: 5, status: '500', id: undefined },
    { at: 400, tookMs: 5, status: '200', id: 'c' },
  ];
  expect(longestGapMs(answers)).toBe(200);
  expect(countOthers(answers)).toBe(1);
});

test.each<[string[], string]>([
  [['faults', '--scenarios', 'nothing'], 'nothing'],
  [['faults', '--rate', '0'], '--rate'],
])('%j fails with one line', async (args, said) => {
  const { code, stderr } = await runBench(args);
  expect(code).toBe(1);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toContain(said);
});
