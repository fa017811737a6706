import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promote, startReplica } from '@leads/local-stack/processes/postgres-replica';
import { dueWithin } from '../load/answers.ts';
import { bufferedLeads } from '../stack/pending-work.ts';
import { Restartable } from '../stack/restartable.ts';
import { waitUntil } from '../stack/wait-until.ts';
import { cutCommits } from './commit-cuts.ts';
import type { Scenario } from './drill.ts';
import { databaseName } from './drill-stack.ts';
import { revokeKeys } from './key-revocation.ts';
import { killPayingInstances } from './payments.ts';
import { accepted, acknowledgedWithin, firstAfter, p99, slowest, unavailable } from './notes.ts';
import { smallDiskObstacle } from './small-disk.ts';
import { submitLead } from './submit-lead.ts';

/** The scenarios, the most frequent faults first. */
export const scenarioNames = [
  'intake-killed',
  'relay-killed',
  'payments-killed',
  'postgres-killed',
  'commit-cut',
  'postgres-frozen',
  'postgres-down',
  'nats-killed',
  'disks-full',
  'key-revoked',
  'postgres-replaced',
  'nats-cluster',
] as const;

export function createScenarios(): Record<(typeof scenarioNames)[number], Scenario> {
  return {
    'intake-killed': {
      title: 'kill -9 of the intake, again and again',
      async run({ stack: { intake }, isShort }) {
        const startsMs: number[] = [];
        let endedAt = 0;
        for (let kill = 0; kill < (isShort ? 2 : 20); kill++) {
          await intake.kill();
          endedAt = Date.now();
          startsMs.push(await intake.start());
          await sleep(1_000);
        }
        return { endedAt, notes: () => [slowest('ready again', startsMs, 3_000)] };
      },
    },

    'relay-killed': {
      title: 'two relays, one of them killed every 2 s',
      stack: { relays: 2, webhooks: true },
      async run({ stack: { relays }, isShort }) {
        let endedAt = 0;
        for (let kill = 0; kill < (isShort ? 2 : 30); kill++) {
          const relay = relays[kill % relays.length];
          const next = sleep(2_000);
          await relay?.kill();
          endedAt = Date.now();
          await relay?.start();
          await next;
        }
        return { endedAt, notes: () => [] };
      },
    },

    'payments-killed': {
      title: 'the only instance of the CRM killed while it pays leads, and while it approves due leads',
      ...killPayingInstances,
    },

    'postgres-killed': {
      title: 'kill -9 of Postgres, again and again',
      stack: { webhooks: true },
      async run({ stack: { postgres }, isShort }) {
        const kills: number[] = [];
        const startsMs: number[] = [];
        let endedAt = 0;
        for (let kill = 0; kill < (isShort ? 2 : 20); kill++) {
          kills.push(Date.now());
          await postgres.kill();
          endedAt = Date.now();
          startsMs.push(await postgres.start());
          await sleep(3_000);
        }
        return {
          endedAt,
          notes: (answers) => [
            slowest('Postgres ready again', startsMs),
            accepted('accepted since the first kill', dueWithin(answers, kills[0] ?? 0, endedAt + 3_000)),
            slowest(
              'next acknowledgement after a kill',
              kills.map((at) => firstAfter(answers, at) - at),
              2_000,
            ),
          ],
        };
      },
    },

    'commit-cut': {
      title: 'connections cut after COMMIT was sent',
      ...cutCommits(),
    },

    'postgres-frozen': {
      title: 'Postgres stopped (SIGSTOP), then continued',
      async run({ stack: { postgres }, isShort }) {
        const pausedAt = Date.now();
        postgres.pause();
        await sleep(isShort ? 5_000 : 60_000);
        postgres.resume();
        const endedAt = Date.now();
        return {
          endedAt,
          notes: (answers) => [
            p99('p99 in the first 3 s', dueWithin(answers, pausedAt, pausedAt + 3_000), 2_500),
            p99('p99 after that', dueWithin(answers, pausedAt + 3_000, endedAt), 300),
            accepted('accepted meanwhile', dueWithin(answers, pausedAt, endedAt)),
          ],
        };
      },
    },

    'postgres-down': {
      title: 'Postgres down, then started',
      async run({ stack, isShort, rate, onProgress }) {
        const downAt = Date.now();
        await stack.postgres.kill();
        await sleep(isShort ? 12_000 : 600_000);
        const endedAt = Date.now();
        await stack.postgres.start();
        onProgress('  Postgres is ready');
        const drainStart = Date.now();
        await waitUntil(async () => (await bufferedLeads(stack.natsUrl)) === undefined, 120_000);
        const drainSeconds = (Date.now() - drainStart) / 1000;
        return {
          endedAt,
          notes(answers) {
            const meanwhile = dueWithin(answers, downAt, endedAt);
            const buffered = meanwhile.filter(({ id }) => id !== undefined).length;
            const required = `${2 * rate} or more, beside new leads`;
            return [
              accepted('accepted meanwhile', meanwhile),
              p99('p99 meanwhile', meanwhile),
              { name: 'drained, leads/s', found: (buffered / drainSeconds).toFixed(0), required },
            ];
          },
        };
      },
    },

    'nats-killed': {
      title: 'kill -9 of NATS, again and again during a drain, then Postgres and NATS down',
      stack: { webhooks: true },
      async run({ stack: { postgres, nats }, isShort, onProgress }) {
        await postgres.kill();
        await sleep(isShort ? 3_000 : 20_000);
        await postgres.start();
        const [broker] = nats;
        if (broker === undefined) throw new Error('The stack has no NATS');
        for (let kill = 0; kill < (isShort ? 2 : 20); kill++) {
          await broker.kill();
          await broker.start();
          await sleep(500);
        }
        onProgress('  Postgres and NATS down');
        await Promise.all([postgres.kill(), broker.kill()]);
        const downAt = Date.now();
        await sleep(isShort ? 4_000 : 60_000);
        const endedAt = Date.now();
        await Promise.all([postgres.start(), broker.start()]);
        const upAt = Date.now();
        return {
          endedAt,
          notes(answers) {
            const refused = dueWithin(answers, downAt, endedAt).filter(({ status }) => status === '503');
            const refusalsMs = refused.map(({ latencyMs }) => latencyMs);
            return [
              acknowledgedWithin('acknowledged while both were down', answers, downAt, endedAt),
              slowest('answered with 503 meanwhile', refusalsMs, 2_000),
              slowest('first acknowledgement with both up', [firstAfter(answers, upAt) - upAt], 5_000),
            ];
          },
        };
      },
    },

    'disks-full': {
      title: 'the buffer full, then the disk of Postgres full',
      stack: { postgresMegabytes: 512, intakeSettings: { INTAKE_BUFFER_MEGABYTES: '1' } },
      impossible: smallDiskObstacle,
      // Large leads fill the buffer at a rate that takes little processor time.
      paddingBytes: 6_000,
      async run(drill) {
        const { stack, isShort, onProgress } = drill;
        const { postgres, postgresDisk } = stack;
        const fullMs = isShort ? 4_000 : 30_000;
        const hasRecovered = async () => (await stack.notRecovered(5_000)) === undefined;
        await postgres.kill();
        await waitUntil(async () => (await submitLead(drill)) === '503', 120_000);
        onProgress('  the buffer is full');
        await sleep(fullMs);
        const bufferFullUntil = Date.now();
        await postgres.start();
        await waitUntil(hasRecovered, 60_000);
        onProgress('  the disk of Postgres is full');
        const diskFullFrom = Date.now();
        postgresDisk?.fill();
        await sleep(fullMs);
        postgresDisk?.free();
        const endedAt = Date.now();
        // Without disk space for its write-ahead log Postgres ends, and this loop starts it again like a
        // supervisor.
        await waitUntil(async () => {
          if (await postgres.hasEnded()) await postgres.start();
          return hasRecovered();
        }, 60_000);
        return {
          endedAt,
          notes: (answers) => [
            unavailable(
              '503 while the buffer was full',
              dueWithin(answers, bufferFullUntil - fullMs, bufferFullUntil),
            ),
            unavailable('503 while the disk was full', dueWithin(answers, diskFullFrom, endedAt)),
            slowest('next acknowledgement', [firstAfter(answers, endedAt) - endedAt], 30_000),
          ],
        };
      },
    },

    'key-revoked': {
      title: 'keys revoked, and a new intake started without Postgres',
      ...revokeKeys,
    },

    'postgres-replaced': {
      title: 'a Postgres primary replaced by its streaming replica',
      stack: { proxy: {} },
      endsStack: true,
      async run({ stack, stop, isShort, onProgress }) {
        stop.throwIfAborted();
        const source = { primaryUrl: stack.databaseUrl, dataDir: join(stack.directory, 'postgres') };
        const replica = stack.resources.use(
          new Restartable(() => startReplica({ ...source, synchronous: true })),
        );
        await replica.start();
        onProgress('  the replica is synchronous');
        await sleep(isShort ? 3_000 : 20_000);
        await stack.postgres.kill();
        const endedAt = Date.now();
        await promote(replica.process);
        const promotedMs = Date.now() - endedAt;
        stack.databaseUrl = replica.process.url(databaseName);
        stack.proxy.leadTo(replica.process.port);
        stack.proxy.cut();
        return {
          endedAt,
          notes: (answers) => [
            slowest('promotion of the replica', [promotedMs]),
            slowest('next acknowledgement', [firstAfter(answers, endedAt) - endedAt]),
          ],
        };
      },
    },

    'nats-cluster': {
      title: 'a cluster of three NATS: one killed, then another; then the same without Postgres',
      stack: { natsServers: 3 },
      async run({ stack: { nats, postgres }, isShort, onProgress }) {
        const phaseMs = isShort ? 3_000 : 20_000;
        const [, second, third] = nats;
        if (second === undefined || third === undefined)
          throw new Error('The stack has less than three NATS servers');
        const phase = async (name: string) => {
          onProgress(`  ${name}`);
          const from = Date.now();
          await sleep(phaseMs);
          return { name, from, to: Date.now() };
        };
        await second.kill();
        const phases = [await phase('one NATS down')];
        await third.kill();
        phases.push(await phase('two NATS down'));
        await Promise.all([second.start(), third.start()]);
        await sleep(phaseMs);
        await postgres.kill();
        await second.kill();
        phases.push(await phase('Postgres and one NATS down'));
        await third.kill();
        const { name, from, to } = await phase('Postgres and two NATS down');
        const endedAt = Date.now();
        await Promise.all([postgres.start(), second.start(), third.start()]);
        return {
          endedAt,
          notes: (answers) => [
            ...phases.map((each) =>
              accepted(`accepted, ${each.name}`, dueWithin(answers, each.from, each.to)),
            ),
            acknowledgedWithin(`acknowledged, ${name}`, answers, from, to),
          ],
        };
      },
    },
  };
}
