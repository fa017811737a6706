import { join } from 'node:path';
import type { ServiceName } from '@leads/local-stack/processes/services';
import { isAcknowledgedSince, longestGapMs, type RecordedAnswer, readAnswers } from '../load/answers.ts';
import { startLoadProcess } from '../load/load-process.ts';
import { crmLeadsPath, submitPath } from '../load/requests.ts';
import { createOwner } from './credentials.ts';
import { waitUntilDrained } from './pending-work.ts';
import { type ProxiedStack, serviceNames } from './proxied-stack.ts';
import { isIntact, verifyLeads } from './verify-leads.ts';
import { waitUntil } from './wait-until.ts';

export type TrafficFigures = Awaited<ReturnType<typeof runUnderTraffic>>;

/** Leads per second of the intake. The CRM creates a tenth of that. */
export const usualRate = '200';
const maxDurationMs = 60 * 60_000;
const drainTimeoutMs = 120_000;
const firstAnswerTimeoutMs = 60_000;

/** Sends leads to both services through nginx while `work` runs. */
export async function runUnderTraffic(stack: ProxiedStack, rate: number, work: () => Promise<void>) {
  const headers = await createOwner(stack.databaseUrl);
  const loads = {
    intake: { path: submitPath, headers: { API_KEY: headers.API_KEY }, connections: 64, rate },
    crm: {
      path: crmLeadsPath,
      headers,
      connections: 16,
      rate: Math.max(1, rate / 10),
      campaignCode: 'default',
    },
  };
  const fileOf = (name: ServiceName) => join(stack.directory, `answers-${name}`);
  using intake = startLoadProcess();
  using crm = startLoadProcess();
  const processes = { intake, crm };
  const startedAt = Date.now();
  const sending = serviceNames.map((name) =>
    processes[name].send({
      ...loads[name],
      port: stack.nginx.ports[name],
      durationMs: maxDurationMs,
      answersFile: fileOf(name),
    }),
  );
  for (const name of serviceNames) {
    if (!(await waitUntil(() => isAcknowledgedSince(fileOf(name), startedAt), firstAnswerTimeoutMs))) {
      throw new Error(`${name} acknowledged no lead`);
    }
  }
  await work();
  for (const name of serviceNames) processes[name].end();
  await Promise.all(sending);
  await waitUntilDrained(stack, drainTimeoutMs);
  const answers = await Promise.all(serviceNames.map((name) => readAnswers(fileOf(name))));
  return {
    services: serviceNames.map((service, at) => trafficOf(service, answers[at] ?? [])),
    verification: await verifyLeads(answers.flat(), stack),
  };
}

function trafficOf(service: ServiceName, answers: readonly RecordedAnswer[]) {
  const not200Statuses: Record<string, number> = {};
  let maxLatencyMs = 0;
  for (const { status, id, latencyMs } of answers) {
    if (id === undefined) not200Statuses[status] = (not200Statuses[status] ?? 0) + 1;
    else maxLatencyMs = Math.max(maxLatencyMs, latencyMs);
  }
  return {
    service,
    requests: answers.length,
    not200Statuses,
    longestGapMs: longestGapMs(answers),
    maxLatencyMs,
  };
}

/** Returns whether every response was 200, and every acknowledged lead is stored once with its events. */
export function isSeamless({ services, verification }: TrafficFigures): boolean {
  return (
    services.every(({ not200Statuses }) => Object.keys(not200Statuses).length === 0) && isIntact(verification)
  );
}
