import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DisposeStack } from '@leads/core/dispose-stack';
import { timedOut, withTimeout } from '@leads/core/with-timeout';
import { findNatsServer } from '@leads/local-stack/processes/find-nats-server';
import { startNats } from '@leads/local-stack/processes/nats-server';
import { defineCommand, listOf, number, oneOf, size } from '../command.ts';
import { filled } from '../list/fill.ts';
import { startFilledDatabases } from '../list/filled-databases.ts';
import { submitPath } from '../load/requests.ts';
import { issueCredentials } from '../stack/credentials.ts';
import { startProgram } from '../stack/programs.ts';
import { temporaryDirectory } from '../stack/temporary-directory.ts';
import { percentile } from '../statistics.ts';
import type { AttackOrder, AttackerStatuses } from './attack-process.ts';
import { type Attacker, attacks, furtherKeys } from './attacks.ts';
import { createAgent, exchange, openRequest, type Sent } from './http-request.ts';

type AttackName = keyof typeof attacks;
const attackNames = Object.keys(attacks) as AttackName[];

/** The maximum p99 of the neighbor during an attack, as a multiple of its quiet value. */
const maxRatio = 3;
/** The time between the full strength of an attack and the measurement, in milliseconds. */
const settleMs = 1_000;
const strengthTimeoutMs = 60_000;

/** The settings that crmEnvironment changes for other benchmarks. An empty value means the default. */
const defaults = {
  CRM_KEY_REQUESTS_PER_MINUTE: '',
  CRM_WORKSPACE_REQUESTS_PER_MINUTE: '',
  DATABASE_CONNECT_TIMEOUT_MS: '',
  DATABASE_STATEMENT_TIMEOUT_MS: '',
};

export const neighbors = defineCommand({
  summary: 'lets one workspace attack the services, and measures the requests of another workspace',
  options: {
    size: size('100k', 'database size in leads; the attacker has 70 % of them'),
    attacks: listOf(oneOf(attackNames, attackNames.join(), 'attacks to run')),
    seconds: number(0.1, 600, '20', 'duration of each measurement'),
  },
  async run(options, { dataDir, onProgress }) {
    await using resources = new DisposeStack();
    const databases = await startFilledDatabases(dataDir, resources, onProgress);
    const databaseUrl = await databases.open(options.size);
    const { path: directory } = resources.use(temporaryDirectory(dataDir));
    const nats = resources.use(
      await startNats({ binary: await findNatsServer(), dataDir: join(directory, 'nats') }),
    );
    const env = { ...defaults, NATS_URL: nats.url };
    const crm = resources.use(await startProgram('crm', { databaseUrl, env }));
    const intake = resources.use(await startProgram('intake', { databaseUrl, env }));
    const issue = (member: { workspaceId: string; userId: string }) => issueCredentials(databaseUrl, member);
    const large = { workspaceId: filled.large, userId: filled.owner };
    const attacker: Attacker = {
      crm: crm.port,
      intake: intake.port,
      credentials: await issue(large),
      moreCredentials: await Promise.all(Array.from({ length: furtherKeys }, () => issue(large))),
    };
    const headers = await issue({ workspaceId: filled.small, userId: filled.smallOwner });
    const measure = () => measureNeighbor({ crm: crm.port, intake: intake.port, headers }, options.seconds);

    onProgress('Warm-up');
    await measure();
    const figures = [];
    for (const attack of options.attacks) {
      const quiet = await measure();
      // In a process of its own, so that the attack does not delay the measuring client.
      const attacking = fork(join(import.meta.dirname, 'neighbors/attack-process.js'));
      const strong = once(attacking, 'message');
      attacking.send({ attack, attacker } satisfies AttackOrder);
      if ((await withTimeout(strengthTimeoutMs, strong)) === timedOut) {
        throw new Error(
          `The attack ${attack} does not reach its full strength within ${strengthTimeoutMs / 1_000} s`,
        );
      }
      await sleep(settleMs);
      const attacked = await measure();
      const ended = once(attacking, 'message');
      attacking.send('stop');
      const [attackerStatuses] = (await ended) as [AttackerStatuses];
      figures.push({
        attack,
        quietP99Ms: quiet.p99Ms,
        p99Ms: attacked.p99Ms,
        ratio: attacked.p99Ms / quiet.p99Ms,
        requests: attacked.requests,
        refused: attacked.refused,
        attackerStatuses,
      });
      onProgress(
        `  ${attack}: ratio ${(attacked.p99Ms / quiet.p99Ms).toFixed(1)}, ${attacked.refused} refused`,
      );
      // The service ends the attacker's streams and transfers.
      await sleep(settleMs);
    }
    const passed = figures.every(({ ratio, refused }) => refused === 0 && ratio <= maxRatio);
    return { figures: { cores: availableParallelism(), leads: options.size, attacks: figures }, passed };
  },
});

/** Sends each kind of request in turn, and measures the time to each complete answer. */
async function measureNeighbor(
  { crm, intake, headers }: { crm: number; intake: number; headers: Readonly<Record<string, string>> },
  seconds: number,
): Promise<{ p99Ms: number; requests: number; refused: number }> {
  const agent = createAgent(4);
  const path = '/api/v1/order/leads';
  const json = { ...headers, 'Content-Type': 'application/json' };
  const lead = JSON.stringify({ campaignCode: 'C32', name: 'Ada', phone: '1' });
  const sends: (() => Promise<string>)[] = (
    [
      { port: crm, path, headers },
      { port: crm, path: `${path}?q=ada&count=exact`, headers },
      { port: crm, path, headers: json, method: 'POST', body: lead },
      { port: crm, path: `${path}?status=Paid`, headers: { ...headers, Accept: 'text/csv' } },
      {
        port: crm,
        path: `${path}/import`,
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'text/csv' },
        body: 'campaignCode,name,phone\n',
      },
      { port: intake, path: submitPath, method: 'POST', headers: json, body: lead },
    ] as const satisfies readonly Sent[]
  ).map((sent) => () => exchange(agent, sent));
  sends.push(async () => {
    const { outgoing, response } = openRequest(agent, { port: crm, path: '/api/v1/events', headers });
    outgoing.end();
    const { statusCode } = await response;
    outgoing.destroy();
    return String(statusCode);
  });
  const timesMs: number[] = [];
  let refused = 0;
  const until = performance.now() + seconds * 1_000;
  for (let turn = 0; performance.now() < until; turn++) {
    const from = performance.now();
    const status = await sends[turn % sends.length]?.();
    timesMs.push(performance.now() - from);
    if (status !== '200') refused += 1;
    await sleep(5);
  }
  agent.destroy();
  return { p99Ms: percentile(timesMs, 0.99), requests: timesMs.length, refused };
}
