import { closeSync, createReadStream, existsSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A response of a service, as recorded in a file. */
export interface RecordedAnswer {
  /** The time of the response, in milliseconds since 1970. */
  readonly at: number;
  /** The time since the request was due, in milliseconds. */
  readonly latencyMs: number;
  /** Three digits, or `broken` if the connection ended before the response. */
  readonly status: string;
  /** The id of the acknowledged lead. */
  readonly id: string | undefined;
}

const descriptors = new Map<string, number>();

/** Appends a response to a file. The write is synchronous, so every counted response is in the file. */
export function recordAnswer(file: string, { at, latencyMs, status, id }: RecordedAnswer): void {
  const descriptor = descriptors.get(file) ?? openSync(file, 'a');
  descriptors.set(file, descriptor);
  writeSync(descriptor, `${at} ${latencyMs.toFixed(1)} ${status}${id === undefined ? '' : ` ${id}`}\n`);
}

function parseAnswer(line: string): RecordedAnswer {
  const [at, latencyMs, status = '', id] = line.split(' ');
  return { at: Number(at), latencyMs: Number(latencyMs), status, id };
}

/** Reads the responses of a file, oldest first. */
export async function* streamAnswers(file: string): AsyncGenerator<RecordedAnswer> {
  if (!existsSync(file)) return;
  for await (const line of createInterface({ input: createReadStream(file) })) yield parseAnswer(line);
}

export async function readAnswers(file: string): Promise<RecordedAnswer[]> {
  const answers: RecordedAnswer[] = [];
  for await (const answer of streamAnswers(file)) answers.push(answer);
  return answers;
}

const tailBytes = 16 * 1024;

/**
 * Returns whether one of the newest responses acknowledges a lead that was due at `time` or later, in
 * milliseconds since 1970.
 */
export function isAcknowledgedSince(file: string, time: number): boolean {
  const descriptor = openSync(file, 'a+');
  try {
    const { size } = fstatSync(descriptor);
    const tail = Buffer.alloc(Math.min(size, tailBytes));
    readSync(descriptor, tail, 0, tail.length, size - tail.length);
    // The first line may be incomplete.
    const newest = tail.toString().split('\n').slice(1).map(parseAnswer);
    return newest.some(({ at, latencyMs, id }) => id !== undefined && at - latencyMs >= time);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the responses to requests that were due in a period, in milliseconds since 1970. */
export function dueWithin(answers: readonly RecordedAnswer[], from: number, to: number): RecordedAnswer[] {
  return answers.filter(({ at, latencyMs }) => at - latencyMs >= from && at - latencyMs < to);
}

/** Returns the longest time between two acknowledgements, in milliseconds; NaN for fewer than two. */
export function longestGapMs(answers: readonly RecordedAnswer[]): number {
  const times = answers.filter(({ id }) => id !== undefined).map(({ at }) => at);
  return times.slice(1).reduce((longest, at, index) => {
    const gap = at - (times[index] ?? at);
    return Number.isNaN(longest) || gap > longest ? gap : longest;
  }, Number.NaN);
}

/** Counts the responses other than 2xx, 4xx and 503. A broken connection is not a response. */
export function countUnexpected(answers: readonly RecordedAnswer[]): number {
  return answers.filter(({ status }) => !/^(?:[24]\d\d|503|broken)$/.test(status)).length;
}

/** Returns the share of acknowledged requests; NaN without requests. */
export function acceptedShare(answers: readonly RecordedAnswer[]): number {
  return answers.filter(({ id }) => id !== undefined).length / answers.length;
}
