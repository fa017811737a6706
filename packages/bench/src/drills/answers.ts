import {
  appendFileSync,
  closeSync,
  createReadStream,
  existsSync,
  fstatSync,
  openSync,
  readSync,
} from 'node:fs';
import { createInterface } from 'node:readline';

/** One answer of the intake. */
export interface RecordedAnswer {
  /** When it came, in milliseconds since 1970. */
  readonly at: number;
  /** From when its request was due, in milliseconds. */
  readonly tookMs: number;
  /** Three digits, or `broken` where the connection ended before the answer. */
  readonly status: string;
  /** The lead that it acknowledges. */
  readonly id: string | undefined;
}

/** Writes down an answer, before it counts for anything. */
export function recordAnswer(file: string, { at, tookMs, status, id }: RecordedAnswer): void {
  appendFileSync(file, `${at} ${tookMs.toFixed(1)} ${status}${id === undefined ? '' : ` ${id}`}\n`);
}

/** The answers of a file, in the order in which they came; the load writes them (intake/load-process.ts). */
export async function readAnswers(file: string): Promise<RecordedAnswer[]> {
  const answers: RecordedAnswer[] = [];
  if (!existsSync(file)) return answers;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const [at, tookMs, status = '', id] = line.split(' ');
    answers.push({ at: Number(at), tookMs: Number(tookMs), status, id });
  }
  return answers;
}

const tailBytes = 16 * 1024;

/** Whether one of the newest answers acknowledges a lead that was due after a time, in milliseconds since 1970. */
export function isAcknowledgedSince(file: string, time: number): boolean {
  const descriptor = openSync(file, 'a+');
  try {
    const { size } = fstatSync(descriptor);
    const tail = Buffer.alloc(Math.min(size, tailBytes));
    readSync(descriptor, tail, 0, tail.length, size - tail.length);
    // The first line may be cut.
    return tail
      .toString()
      .split('\n')
      .slice(1)
      .some((line) => {
        const [at, tookMs, , id] = line.split(' ');
        return id !== undefined && Number(at) - Number(tookMs) >= time;
      });
  } finally {
    closeSync(descriptor);
  }
}

/** Those whose requests were due within a time, in milliseconds since 1970. */
export function dueWithin(
  answers: readonly RecordedAnswer[],
  from: number,
  to: number,
): readonly RecordedAnswer[] {
  return answers.filter(({ at, tookMs }) => at - tookMs >= from && at - tookMs < to);
}

/** The longest time between two acknowledgements, in milliseconds. NaN of fewer than two. */
export function longestGapMs(answers: readonly RecordedAnswer[]): number {
  const times = answers.filter(({ id }) => id !== undefined).map(({ at }) => at);
  return times.slice(1).reduce((longest, at, index) => {
    const gap = at - (times[index] ?? at);
    return Number.isNaN(longest) || gap > longest ? gap : longest;
  }, Number.NaN);
}

/** How many answers were not what an API may say: 2xx, 4xx or 503. A broken connection is no answer. */
export function countOthers(answers: readonly RecordedAnswer[]): number {
  return answers.filter(({ status }) => !/^(?:[24]\d\d|503|broken)$/.test(status)).length;
}

/** The share of requests that were acknowledged, of all that got an answer or none. NaN of none. */
export function acceptedShare(answers: readonly RecordedAnswer[]): number {
  return answers.filter(({ id }) => id !== undefined).length / answers.length;
}
