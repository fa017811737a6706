import { setTimeout as sleep } from 'node:timers/promises';
import { promote, startReplica } from '@leads/local-stack/processes/postgres-replica';
import type { ScenarioName } from '../options.ts';
import { percentile } from '../statistics.ts';
import { acceptedShare, dueWithin, type RecordedAnswer } from './answers.ts';
import { cutCommits } from './commit-cut.ts';
import type { Note, Scenario } from './drill.ts';
import { revokeKeys } from './key-revoked.ts';
import { Part } from './part.ts';
import { smallDiskImpossible } from './small-disk.ts';
import { bufferedLeads, databaseName, readiness, settles } from './stack.ts';

/** The faults that the service is to stand. */
export function createScenarios(): Record<ScenarioName, Scenario> {
  return {
    'intake-killed': {
      title: 'kill -9 of the intake, 20 times',
      async run({ stack: { intake }, isShort }) {
        const startsMs: number[] = [];
        let endedAt = 0;
        await repeat(isShort ? 2 : 20, async () => {
          await intake.kill();
          endedAt = Date.now();
          startsMs.push(await intake.start());
          await sleep(1_000);
        });
        return { endedAt, notes: () => [slowest('ready again', startsMs, 3_000)] };
      },
    },

    'relay-killed': {
      title: 'two relays, one killed every 2 s for a minute',
      stack: { relays: 2 },
      async run({ stack: { relays }, isShort }) {
        let endedAt = 0;
        await repeat(isShort ? 3 : 30, async (round) => {
          const relay = relays[round % relays.length];
          const next = sleep(2_000);
          await relay?.kill();
          endedAt = Date.now();
          await relay?.start();
          await next;
        });
        return { endedAt, notes: () => [] };
      },
    },

    'postgres-killed': {
      title: 'kill -9 of Postgres, 20 times',
      async run({ stack: { postgres }, isShort }) {
        const kills: number[] = [];
        const startsMs: number[] = [];
        let endedAt = 0;
        await repeat(isShort ? 3 : 20, async () => {
          kills.push(Date.now());
          await postgres.kill();
          endedAt = Date.now();
          startsMs.push(await postgres.start());
          await sleep(3_000);
        });
        return {
          endedAt,
          notes: (answers) => [
            slowest('Postgres was back', startsMs),
            accepted('accepted from the first kill on', dueWithin(answers, kills[0] ?? 0, endedAt + 3_000)),
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
      title: 'connection cut after COMMIT was sent, 200 times',
      ...cutCommits(),
    },

    'postgres-frozen': {
      title: 'Postgres stopped (SIGSTOP) for 60 s',
      async run({ stack: { postgres }, isShort }) {
        const frozenAt = Date.now();
        postgres.freeze();
        await sleep(isShort ? 8_000 : 60_000);
        postgres.thaw();
        const endedAt = Date.now();
        return {
          endedAt,
          notes: (answers) => [
            p99('p99 in the first 3 s', dueWithin(answers, frozenAt, frozenAt + 3_000), 2_500),
            p99('p99 after', dueWithin(answers, frozenAt + 3_000, endedAt), 300),
            accepted('accepted meanwhile', dueWithin(answers, frozenAt, endedAt)),
          ],
        };
      },
    },

    'postgres-down': {
      title: 'Postgres down for 10 minutes',
      async run({ stack, isShort, rate, onProgress }) {
        const downAt = Date.now();
        await stack.postgres.kill();
        await sleep(isShort ? 120_000 : 600_000);
        const endedAt = Date.now();
        await stack.postgres.start();
        onProgress('  Postgres is back');
        const drainFrom = Date.now();
        await until(async () => (await bufferedLeads(stack.natsUrl)) === undefined, 120_000);
        const drainMs = Date.now() - drainFrom;
        return {
          endedAt,
          notes(answers) {
            const meanwhile = dueWithin(answers, downAt, endedAt);
            const perSecond = meanwhile.filter(({ id }) => id !== undefined).length / (drainMs / 1000);
            return [
              accepted('accepted meanwhile', meanwhile),
              p99('p99 meanwhile', meanwhile),
              {
                name: 'drained, leads/s',
                found: perSecond.toFixed(0),
                asked: `${2 * rate} or more, beside those that arrive`,
              },
            ];
          },
        };
      },
    },

    'nats-killed': {
      title: 'kill -9 of NATS 20 times while draining, then Postgres and NATS away for 60 s',
      async run({ stack: { postgres, nats }, isShort, onProgress }) {
        await postgres.kill();
        await sleep(isShort ? 5_000 : 20_000);
        await postgres.start();
        const [broker] = nats;
        if (broker === undefined) throw new Error('There is no NATS to kill');
        await repeat(isShort ? 3 : 20, async () => {
          await broker.kill();
          await broker.start();
          await sleep(500);
        });
        onProgress('  Postgres and NATS both go');
        await Promise.all([postgres.kill(), broker.kill()]);
        const awayAt = Date.now();
        await sleep(isShort ? 6_000 : 60_000);
        const endedAt = Date.now();
        await Promise.all([postgres.start(), broker.start()]);
        const backAt = Date.now();
        return {
          endedAt,
          notes(answers) {
            const meanwhile = dueWithin(answers, awayAt, endedAt);
            return [
              {
                name: 'acknowledged while both were away',
                found: String(meanwhile.filter(({ id, at }) => id !== undefined && at < endedAt).length),
                asked: '0',
              },
              slowest(
                'answered with 503 meanwhile',
                meanwhile.filter(({ status }) => status === '503').map(({ tookMs }) => tookMs),
                2_000,
              ),
              slowest(
                'first acknowledgement once both are back',
                [firstAfter(answers, backAt) - backAt],
                5_000,
              ),
            ];
          },
        };
      },
    },

    'disks-full': {
      title: 'the buffer full, then the disk of Postgres full',
      stack: { postgresMegabytes: 512, intakeSettings: { INTAKE_BUFFER_MEGABYTES: '1' } },
      impossible: smallDiskImpossible,
      async run({ stack, isShort, onProgress }) {
        const { intake, postgres, postgresDisk } = stack;
        const fullMs = isShort ? 8_000 : 30_000;
        await postgres.kill();
        // However few leads a busy machine sends: the intake is ready as long as anything takes them.
        await until(async () => (await readiness(intake.process.url)) === 503, 120_000);
        onProgress('  the buffer is full');
        await sleep(fullMs);
        const bufferFullUntil = Date.now();
        await postgres.start();
        await settles(stack, { eventsMayWaitMs: 5_000, timeoutMs: 60_000 });
        onProgress('  the disk of Postgres is full');
        const from = Date.now();
        postgresDisk?.fill();
        await sleep(fullMs);
        postgresDisk?.free();
        const endedAt = Date.now();
        // Without room for its log Postgres ends, and whoever runs it starts it again.
        await until(async () => {
          if (await postgres.hasEnded()) await postgres.start();
          return (await stack.unsettled(5_000)) === undefined;
        }, 60_000);
        return {
          endedAt,
          notes: (answers) => [
            share(
              'refused while the buffer was full',
              dueWithin(answers, bufferFullUntil - fullMs, bufferFullUntil),
            ),
            share('refused while the disk was full', dueWithin(answers, from, endedAt)),
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
      async run({ stack, isShort, onProgress }) {
        const { databaseUrl: primaryUrl, postgresDataDir: dataDir } = stack;
        const part = stack.own(new Part(() => startReplica({ primaryUrl, dataDir, synchronous: true })));
        await part.start();
        const replica = part.process;
        onProgress('  the replica follows');
        await sleep(isShort ? 3_000 : 20_000);
        await stack.postgres.kill();
        const endedAt = Date.now();
        await promote(replica);
        const promotedMs = Date.now() - endedAt;
        stack.databaseUrl = replica.url(databaseName);
        stack.proxy.leadTo(replica.port);
        stack.proxy.cut();
        return {
          endedAt,
          notes: (answers) => [
            slowest('the replica was the primary', [promotedMs]),
            slowest('next acknowledgement', [firstAfter(answers, endedAt) - endedAt]),
          ],
        };
      },
    },

    'nats-cluster': {
      title: 'a cluster of three NATS: one killed, then another; then the same without Postgres',
      stack: { natsServers: 3 },
      async run({ stack: { nats, postgres }, isShort, onProgress }) {
        const phaseMs = isShort ? 5_000 : 20_000;
        const [, second, third] = nats;
        if (second === undefined || third === undefined) throw new Error('There are no three NATS');
        const phase = async (name: string) => {
          onProgress(`  ${name}`);
          const from = Date.now();
          await sleep(phaseMs);
          return { name: `accepted, ${name}`, from, to: Date.now() };
        };
        await second.kill();
        const oneDown = await phase('one NATS down');
        await third.kill();
        const twoDown = await phase('two NATS down');
        await Promise.all([second.start(), third.start()]);
        await sleep(phaseMs);
        await postgres.kill();
        await second.kill();
        const alsoOneDown = await phase('Postgres and one NATS down');
        await third.kill();
        const alsoTwoDown = await phase('Postgres and two NATS down');
        const endedAt = Date.now();
        await Promise.all([postgres.start(), second.start(), third.start()]);
        return {
          endedAt,
          notes: (answers) => [
            ...[oneDown, twoDown, alsoOneDown].map(({ name, from, to }) =>
              accepted(name, dueWithin(answers, from, to)),
            ),
            {
              name: 'acknowledged, Postgres and two NATS down',
              found: String(
                dueWithin(answers, alsoTwoDown.from, alsoTwoDown.to).filter(
                  ({ id, at }) => id !== undefined && at < alsoTwoDown.to,
                ).length,
              ),
              asked: '0',
            },
          ],
        };
      },
    },
  };
}

async function repeat(times: number, work: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < times; round++) await work(round);
}

async function until(isSo: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isSo()) && performance.now() < deadline) await sleep(50);
}

/** When the first lead was acknowledged whose request was due after a time. NaN where none was. */
function firstAfter(answers: readonly RecordedAnswer[], time: number): number {
  return answers.find(({ at, tookMs, id }) => id !== undefined && at - tookMs >= time)?.at ?? Number.NaN;
}

function slowest(name: string, timesMs: readonly number[], asked?: number): Note {
  const found = timesMs.length === 0 ? Number.NaN : Math.max(...timesMs);
  return { name: `${name}, slowest`, found: milliseconds(found), ...withAsked(asked) };
}

function p99(name: string, answers: readonly RecordedAnswer[], asked?: number): Note {
  const found = percentile(
    answers.map(({ tookMs }) => tookMs),
    0.99,
  );
  return { name, found: milliseconds(found), ...withAsked(asked) };
}

function withAsked(asked: number | undefined): Pick<Note, 'asked'> {
  return asked === undefined ? {} : { asked: `under ${asked} ms` };
}

function milliseconds(value: number): string {
  return Number.isNaN(value) ? 'never' : `${value.toFixed(0)} ms`;
}

function share(name: string, answers: readonly RecordedAnswer[]): Note {
  const refused = answers.filter(({ status }) => status === '503').length;
  return { name, found: `${((refused / answers.length) * 100).toFixed(2)} %` };
}

function accepted(name: string, answers: readonly RecordedAnswer[]): Note {
  return { name, found: `${(acceptedShare(answers) * 100).toFixed(2)} %`, asked: '99.9 % or more' };
}
