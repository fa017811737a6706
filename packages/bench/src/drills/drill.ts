import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DisposeStack } from '@leads/core/dispose-stack';
import { timedOut, withTimeout } from '@leads/core/with-timeout';
import {
  acceptedShare,
  countUnexpected,
  isAcknowledgedSince,
  longestGapMs,
  type RecordedAnswer,
  readAnswers,
} from '../load/answers.ts';
import { type LoadProcess, startLoadProcess } from '../load/load-process.ts';
import { submitPath } from '../load/requests.ts';
import { verifyLeads } from '../stack/verify-leads.ts';
import { waitUntil } from '../stack/wait-until.ts';
import { formatPercent } from '../table.ts';
import {
  type CommonOptions,
  type DrillStack,
  mergeStackOptions,
  type StackOptions,
  startDrillStack,
} from './drill-stack.ts';
import { type DeliveryVerification, endLeases, hasNoDeliveries, verifyDeliveries } from './webhooks.ts';
import { StatusChanges } from './status-changes.ts';

/** A scenario with faults. */
export interface Scenario {
  readonly title: string;
  readonly stack?: StackOptions;
  /** No other scenario can run on the stack after this one. */
  readonly endsStack?: boolean;
  /** The scenario sends leads itself, without a steady load. */
  readonly sendsLeads?: boolean;
  /** The size of an additional field of each lead, in bytes. */
  readonly paddingBytes?: number;
  /** Returns the reason if the scenario cannot run on this machine. */
  readonly impossible?: () => string | undefined;
  /** Causes the faults and ends them. */
  run(drill: Drill): Promise<Outcome>;
}

/** A scenario with its name. */
export interface NamedScenario {
  readonly name: string;
  readonly scenario: Scenario;
}

/** The options of a drill. */
interface DrillOptions extends NamedScenario {
  /** Seconds instead of minutes. */
  readonly isShort: boolean;
  /** The load in leads per second. */
  readonly rate: number;
  readonly onProgress: (line: string) => void;
}

/** The stack and the options of a running scenario. */
export interface Drill extends DrillOptions {
  readonly stack: DrillStack;
  /** The file that records responses, including those to leads of the scenario itself. */
  readonly answersFile: string;
  /** Aborted when the command is stopped. The scenario may continue for a while. */
  readonly stop: AbortSignal;
}

interface Outcome {
  /** The end of the last fault, in milliseconds since 1970. */
  readonly endedAt: number;
  /** Returns additional findings. */
  readonly notes: (answers: readonly RecordedAnswer[]) => readonly Note[];
}

/** A finding that only this scenario has. */
export interface Note {
  readonly name: string;
  readonly found: string;
  readonly required?: string;
}

export type DrillFigures = Awaited<ReturnType<typeof runOn>>;

/** The result of a scenario that failed. */
export interface FailedDrill {
  readonly scenario: string;
  readonly title: string;
  readonly failure: string;
}

const maxConnections = 512;
/** The time before the first fault and after the recovery. */
const quietMs = { long: 2_000, short: 500 };
const recoveryTimeoutMs = 300_000;
/** Each check opens connections to Postgres and NATS. */
const recoveryCheckMs = 500;
const maxEventAgeMs = 1_500;
const scenarioTimeoutMs = 25 * 60_000;

/**
 * Runs scenarios one after another on a new stack. A failed scenario does not prevent the next one, but a stop
 * signal does.
 *
 * @throws Error if the run is stopped, after all processes of the stack have ended.
 */
export async function runDrills(
  scenarios: readonly NamedScenario[],
  options: Omit<DrillOptions, keyof NamedScenario> & CommonOptions,
): Promise<(DrillFigures | FailedDrill)[]> {
  const { stop, onProgress } = options;
  const failed = ({ name, scenario: { title } }: NamedScenario, error: unknown): FailedDrill => {
    if (stop.aborted) throw error;
    const failure = (error as Error).message;
    onProgress(`  ${failure}`);
    return { scenario: name, title, failure };
  };
  await using resources = new DisposeStack();
  try {
    const impossible = scenarios.map(({ scenario }) => scenario.impossible?.()).find(Boolean);
    if (impossible !== undefined) throw new Error(impossible);
    const stackOptions = mergeStackOptions(scenarios.map(({ scenario }) => scenario.stack ?? {}));
    const stack = await startDrillStack(resources, { ...stackOptions, ...options });
    using load = startLoadProcess();
    const results: (DrillFigures | FailedDrill)[] = [];
    for (const named of scenarios) {
      stop.throwIfAborted();
      onProgress(`${named.name}: ${named.scenario.title}`);
      const drill = rejectOnStop(runOn(stack, load, { ...options, ...named }), stop);
      results.push(await drill.catch((error: unknown) => failed(named, error)));
    }
    return results;
  } catch (error) {
    return scenarios.map((named) => failed(named, error));
  }
}

async function runOn(stack: DrillStack, load: LoadProcess, options: DrillOptions & CommonOptions) {
  const { name, scenario, rate } = options;
  const answersFile = join(stack.directory, `answers-${name}`);
  const quiet = options.isShort ? quietMs.short : quietMs.long;
  const startedAt = Date.now();
  const sending = scenario.sendsLeads === true ? undefined : sendSteadily(load, stack, options, answersFile);
  // A service may be ready before it acknowledges leads.
  const acknowledgesSince = (time: number) =>
    waitUntil(() => isAcknowledgedSince(answersFile, time), recoveryTimeoutMs);
  const recovers = (eventAgeMs: number) =>
    waitUntil(
      async () => (await stack.notRecovered(eventAgeMs)) === undefined,
      recoveryTimeoutMs,
      recoveryCheckMs,
    );
  let recoveryMs: number | undefined;
  let notes: Outcome['notes'];
  {
    await using changes = new StatusChanges(stack.relays, stack.credentials);
    const endLoad = async () => {
      if (sending === undefined) return;
      await sleep(quiet);
      load.end();
      await Promise.all([sending, changes[Symbol.asyncDispose]()]);
    };
    if (sending !== undefined) await acknowledgesSince(startedAt);
    await sleep(quiet);
    const outcome = await withTimeout(scenarioTimeoutMs, scenario.run({ ...options, stack, answersFile }));
    if (outcome === timedOut)
      throw new Error(`The scenario takes more than ${scenarioTimeoutMs / 60_000} min`);
    const { endedAt } = outcome;
    notes = outcome.notes;
    const acknowledges = sending === undefined || (await acknowledgesSince(endedAt));
    // Buffered leads may wait for their redelivery. A short drill waits without load.
    if (options.isShort) await endLoad();
    const hasRecovered = acknowledges && (await recovers(maxEventAgeMs));
    if (hasRecovered) recoveryMs = Date.now() - endedAt;
    if (!options.isShort) await endLoad();
  }
  const seconds = (Date.now() - startedAt) / 1000;
  options.onProgress('  comparing acknowledged leads with the table and the event stream');
  await recovers(0);
  const deliveries = await verifyDeliveriesOf(stack, options);
  const answers = await readAnswers(answersFile);
  return {
    scenario: name,
    title: scenario.title,
    rate,
    seconds,
    ...(await verifyLeads(answers, stack)),
    ...deliveries,
    /** The number of responses with 503. */
    unavailable: answers.filter(({ status }) => status === '503').length,
    broken: answers.filter(({ status }) => status === 'broken').length,
    unexpected: countUnexpected(answers),
    longestGapMs: longestGapMs(answers),
    /** Undefined after a timeout. */
    recoveryMs,
    notes: [{ name: 'accepted', found: formatPercent(acceptedShare(answers)) }, ...notes(answers)],
  };
}

/** Waits until no delivery waits, and returns whether all have arrived. Undefined without webhooks. */
async function verifyDeliveriesOf(
  { receivers, databaseUrl }: DrillStack,
  { isShort, onProgress }: DrillOptions,
): Promise<DeliveryVerification | undefined> {
  if (receivers === undefined) return undefined;
  onProgress('  waiting for the deliveries of killed processes');
  if (isShort) await endLeases(databaseUrl);
  await waitUntil(() => hasNoDeliveries(databaseUrl), recoveryTimeoutMs, recoveryCheckMs);
  return await verifyDeliveries(receivers, databaseUrl);
}

function sendSteadily(
  load: LoadProcess,
  stack: DrillStack,
  { rate, scenario }: DrillOptions,
  answersFile: string,
): Promise<unknown> {
  return load.send({
    port: stack.intakePort,
    path: submitPath,
    headers: { API_KEY: stack.credentials.API_KEY },
    connections: Math.min(maxConnections, 4 * rate),
    durationMs: scenarioTimeoutMs + recoveryTimeoutMs,
    rate,
    paddingBytes: scenario.paddingBytes,
    answersFile,
  });
}

/** Returns the result of `work`, or throws as soon as the signal aborts. */
async function rejectOnStop<Result>(work: Promise<Result>, stop: AbortSignal): Promise<Result> {
  const isOver = new AbortController();
  const stopped = once(stop, 'abort', { signal: isOver.signal }).then(() => {
    throw new Error('The drill was stopped');
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    isOver.abort();
  }
}
