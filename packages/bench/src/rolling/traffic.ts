import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName } from '@leads/local-stack/processes/services';
import { isAcknowledgedSince, longestGapMs, type RecordedAnswer, readAnswers } from '../drills/answers.ts';
import { checkPromises, type Verdict } from '../drills/check.ts';
import { settles } from '../drills/stack.ts';
import { leadPath } from '../intake/lead-requests.ts';
import { startLoadProcess } from '../intake/load.ts';
import { createOwner } from '../intake/service.ts';
import { issueCredentials } from '../list/crm-process.ts';
import { type Ground, serviceNames } from './ground.ts';

/** What the clients of a service saw. */
interface TrafficFigures {
  readonly service: ServiceName;
  readonly requests: number;
  /** How many answers were something else than 200, by status; `broken` are requests whose connection ended before. */
  readonly others: Readonly<Record<string, number>>;
  /** Between two answers with 200. */
  readonly longestGapMs: number;
  /** From when the request was due to its answer with 200, the longest. */
  readonly slowestMs: number;
}

/** What was seen of both services, and what became of what they acknowledged. */
export interface TrafficReport {
  readonly services: readonly TrafficFigures[];
  readonly verdict: Verdict;
}

/** Leads a second of the intake; a tenth of them are created with the CRM besides. */
export const usualRate = 200;
const crmShare = 0.1;
const longestMs = 60 * 60_000;
const levelTimeoutMs = 120_000;

/** Sends leads to both services, through the proxy, while something is done. */
export async function underTraffic(
  ground: Ground,
  rate: number,
  work: () => Promise<void>,
): Promise<TrafficReport> {
  const headers = await issueCredentials(ground.databaseUrl, await createOwner(ground.databaseUrl));
  const loads = {
    intake: { path: leadPath, headers: { API_KEY: headers.API_KEY }, connections: 64, rate },
    crm: {
      path: '/api/v1/order/leads',
      headers,
      connections: 16,
      rate: Math.max(1, rate * crmShare),
      campaignCode: 'default',
    },
  };
  const fileOf = (name: ServiceName) => join(ground.directory, `answers-${name}`);
  using intake = startLoadProcess();
  using crm = startLoadProcess();
  const processes = { intake, crm };
  const startedAt = Date.now();
  const sending = serviceNames.map((name) =>
    processes[name].send({
      ...loads[name],
      port: ground.nginx.ports[name],
      durationMs: longestMs,
      answersFile: fileOf(name),
    }),
  );
  // Where the work fails they are killed, and that is no second failure.
  for (const each of sending) each.catch(() => undefined);
  for (const name of serviceNames) {
    while (!isAcknowledgedSince(fileOf(name), startedAt)) await sleep(50);
  }
  await work();
  for (const name of serviceNames) processes[name].end();
  await Promise.all(sending);
  await settles(ground, { eventsMayWaitMs: 0, timeoutMs: levelTimeoutMs });
  const answers = await Promise.all(serviceNames.map((name) => readAnswers(fileOf(name))));
  return {
    services: serviceNames.map((service, index) => figuresOf(service, answers[index] ?? [])),
    verdict: await checkPromises(answers.flat(), ground),
  };
}

function figuresOf(service: ServiceName, answers: readonly RecordedAnswer[]): TrafficFigures {
  const acknowledged = answers.filter(({ id }) => id !== undefined);
  const others: Record<string, number> = {};
  for (const { status, id } of answers) if (id === undefined) others[status] = (others[status] ?? 0) + 1;
  return {
    service,
    requests: answers.length,
    others,
    longestGapMs: longestGapMs(answers),
    slowestMs: acknowledged.reduce((slowest, { tookMs }) => Math.max(slowest, tookMs), 0),
  };
}

/** Whether nobody noticed: every request was answered with 200, and all that was acknowledged is there and was told. */
export function isUnnoticed({ services, verdict }: TrafficReport): boolean {
  return (
    services.every(({ others }) => Object.keys(others).length === 0) &&
    verdict.lost + verdict.duplicated + verdict.missingEvents + verdict.disorderedEvents === 0
  );
}
