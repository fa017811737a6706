import { acceptedShare, dueWithin, type RecordedAnswer } from '../load/answers.ts';
import { percentile } from '../statistics.ts';
import { formatPercent } from '../table.ts';
import type { Note } from './drill.ts';

type Answers = readonly RecordedAnswer[];

/**
 * Returns the time of the first acknowledgement of a lead that was due at `time` or later; NaN if there is
 * none.
 */
export function firstAfter(answers: Answers, time: number): number {
  const first = answers.find(({ at, latencyMs, id }) => id !== undefined && at - latencyMs >= time);
  return first?.at ?? Number.NaN;
}

export function slowest(name: string, timesMs: readonly number[], maxMs?: number): Note {
  const found = timesMs.length === 0 ? Number.NaN : Math.max(...timesMs);
  return timeNote(`${name}, slowest`, found, maxMs);
}

export function p99(name: string, answers: Answers, maxMs?: number): Note {
  const latenciesMs = answers.map(({ latencyMs }) => latencyMs);
  return timeNote(name, percentile(latenciesMs, 0.99), maxMs);
}

function timeNote(name: string, foundMs: number, maxMs: number | undefined): Note {
  const found = Number.isNaN(foundMs) ? 'never' : `${foundMs.toFixed(0)} ms`;
  return { name, found, ...(maxMs !== undefined && { required: `under ${maxMs} ms` }) };
}

export function unavailable(name: string, answers: Answers): Note {
  const count = answers.filter(({ status }) => status === '503').length;
  return { name, found: formatPercent(count / answers.length) };
}

export function accepted(name: string, answers: Answers): Note {
  return { name, found: formatPercent(acceptedShare(answers)), required: '99.9 % or more' };
}

/** Counts the acknowledged leads of a period without an available store. */
export function acknowledgedWithin(name: string, answers: Answers, from: number, to: number): Note {
  const acknowledged = dueWithin(answers, from, to).filter(({ id, at }) => id !== undefined && at < to);
  return { name, found: String(acknowledged.length), required: '0' };
}
