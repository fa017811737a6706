import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { timedOut, withTimeout } from '@leads/core/with-timeout';
import { leadPath } from '../intake/lead-requests.ts';
import { type LoadProcess, startLoadProcess } from '../intake/load.ts';
import {
  acceptedShare,
  countOthers,
  isAcknowledgedSince,
  longestGapMs,
  type RecordedAnswer,
  readAnswers,
} from './answers.ts';
import { StatusChanger } from './changes.ts';
import { checkPromises, type Verdict } from './check.ts';
import { type FaultStack, type StackOptions, settles, startStack } from './stack.ts';

/** One kind of fault. */
export interface Scenario {
  readonly title: string;
  readonly stack?: StackOptions;
  /** Does without the steady load: it sends leads of its own. */
  readonly isWithoutLoad?: boolean;
  /** Why it cannot be tried here, if so. */
  readonly impossible?: () => string | undefined;
  /** Makes the faults, and sets them right. */
  run(drill: Drill): Promise<Outcome>;
}

/** What a scenario works with. */
export interface Drill {
  readonly stack: FaultStack;
  /** Seconds instead of minutes. */
  readonly isShort: boolean;
  /** Leads a second of the load. */
  readonly rate: number;
  /** Where answers are written down, for leads that the scenario sends itself. */
  readonly answersFile: string;
  readonly onProgress: (line: string) => void;
}

interface Outcome {
  /** When the last fault was set right, in milliseconds since 1970. */
  readonly endedAt: number;
  /** What more there is to say, from all answers. */
  readonly notes: (answers: readonly RecordedAnswer[]) => readonly Note[];
}

/** Something that a scenario asks for beside the promises, and what was found. */
export interface Note {
  readonly name: string;
  readonly found: string;
  readonly asked?: string;
}

export interface DrillFigures extends Verdict {
  readonly scenario: string;
  readonly title: string;
  /** Leads a second that were due. */
  readonly rate: number;
  readonly seconds: number;
  /** Answers with 503. */
  readonly refused: number;
  /** Requests whose connection ended before the answer. */
  readonly broken: number;
  /** Answers that are none of 2xx, 4xx and 503. */
  readonly others: number;
  readonly longestGapMs: number;
  /**
   * From when the last fault was set right until all was level: all services ready, no event and no lead waits, leads are
   * acknowledged again. Undefined where that took longer than {@link levelTimeoutMs}.
   */
  readonly recoveryMs: number | undefined;
  readonly notes: readonly Note[];
}

/** A scenario that could not be tried, or did not come to its end. */
export interface FailedDrill {
  readonly scenario: string;
  readonly title: string;
  readonly failure: string;
}

const connections = 512;
/** Before the first fault, so that all is warm, and after the last, so that leads go their usual way again. */
const calmMs = { long: 2_000, short: 500 };
export const levelTimeoutMs = 300_000;
/** Under load there are always some that have just been noted. */
const eventsMayWaitMs = 1_500;
/** Of all of a scenario, whatever happens. */
const longestMs = 25 * 60_000;

/** What a drill is run with. */
interface DrillOptions {
  readonly name: string;
  readonly scenario: Scenario;
  readonly isShort: boolean;
  readonly rate: number;
  readonly parent: string | undefined;
  readonly natsServer: string;
  readonly syncAlways: boolean;
  readonly stop: AbortSignal;
  readonly onProgress: (line: string) => void;
}

/**
 * Runs one scenario on a stack of its own.
 *
 * @throws Error once all of the stack has ended, where it fails or is told to stop.
 */
export async function runDrill(options: DrillOptions): Promise<DrillFigures> {
  await using stack = await startStack({ ...options.scenario.stack, ...options });
  using load = startLoadProcess();
  options.stop.throwIfAborted();
  return await unlessStopped(runOn(stack, load, options), options.stop);
}

async function runOn(stack: FaultStack, load: LoadProcess, options: DrillOptions): Promise<DrillFigures> {
  const { name, scenario, rate } = options;
  const answersFile = join(stack.directory, 'answers');
  const calm = options.isShort ? calmMs.short : calmMs.long;
  const startedAt = Date.now();
  const sending = scenario.isWithoutLoad === true ? undefined : send(load, stack, { rate, answersFile });
  // Where the drill fails the load is killed, and that is no second failure.
  sending?.catch(() => undefined);
  const drill = { ...options, stack, answersFile };
  let outcome: Outcome;
  let recoveryMs: number | undefined;
  {
    await using _changes = new StatusChanger(stack.relays, stack.credentials);
    // Its connections are made first, which takes a while where there is little to be had of the cores.
    if (sending !== undefined) await acknowledges(answersFile, startedAt);
    await sleep(calm);
    const found = await withTimeout(longestMs, scenario.run(drill));
    if (found === timedOut) throw new Error(`It took more than ${longestMs / 60_000} minutes`);
    outcome = found;
    const { endedAt: from } = outcome;
    const isLevel =
      (await settles(stack, { eventsMayWaitMs, timeoutMs: levelTimeoutMs })) &&
      (sending === undefined || (await acknowledges(answersFile, from)));
    if (isLevel) recoveryMs = Date.now() - from;
    if (sending !== undefined) {
      await sleep(calm);
      load.end();
      await sending;
    }
  }
  const endedAt = Date.now();
  options.onProgress('  holding what was acknowledged against the table and the stream');
  await settles(stack, { eventsMayWaitMs: 0, timeoutMs: levelTimeoutMs });
  const answers = await readAnswers(answersFile);
  return {
    scenario: name,
    title: scenario.title,
    rate,
    seconds: (endedAt - startedAt) / 1000,
    ...(await checkPromises(answers, stack)),
    refused: answers.filter(({ status }) => status === '503').length,
    broken: answers.filter(({ status }) => status === 'broken').length,
    others: countOthers(answers),
    longestGapMs: longestGapMs(answers),
    recoveryMs,
    notes: [
      { name: 'accepted', found: `${(acceptedShare(answers) * 100).toFixed(2)} %` },
      ...outcome.notes(answers),
    ],
  };
}

function send(
  load: LoadProcess,
  { intakePort: port, credentials }: FaultStack,
  { rate, answersFile }: { rate: number; answersFile: string },
): Promise<unknown> {
  const headers = { API_KEY: credentials.API_KEY };
  const durationMs = longestMs + levelTimeoutMs;
  return load.send({ port, path: leadPath, headers, connections, durationMs, rate, answersFile });
}

/** Whether leads are acknowledged again, at the end of the time at the latest: a service may say that it is ready before. */
async function acknowledges(answersFile: string, since: number): Promise<boolean> {
  const deadline = performance.now() + levelTimeoutMs;
  while (!isAcknowledgedSince(answersFile, since)) {
    if (performance.now() > deadline) return false;
    await sleep(50);
  }
  return true;
}

/** What comes of some work, which is not waited for any more once it is to stop. */
async function unlessStopped<Result>(work: Promise<Result>, stop: AbortSignal): Promise<Result> {
  const isOver = new AbortController();
  const stopped = once(stop, 'abort', { signal: isOver.signal }).then(() => {
    throw new Error('It was told to stop');
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    isOver.abort();
  }
}
