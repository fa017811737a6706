import type { CliIo } from './cli-io.ts';
import { printNotice } from './output.ts';

/** The progress of a command. */
export interface Position {
  readonly rows: number;
  /** The completed fraction, from 0 to 1, if it is known. */
  readonly part?: number | undefined;
}

const redrawMs = 200;
/** The interval of progress lines if stderr is not a terminal. */
const lineMs = 5_000;
const barWidth = 20;
const eraseLine = '\r\u001b[2K';

/**
 * Shows the progress of a command on stderr. On a terminal, redraws one line. Otherwise, prints a new line every 5 s.
 *
 * @param options.position returns the current progress. Called for each line.
 */
export function startProgress(
  { stderr }: CliIo,
  options: { readonly isShown: boolean; readonly position: () => Position },
): Disposable {
  if (!options.isShown) return { [Symbol.dispose]: () => undefined };
  const isTerminal = stderr.isTTY === true;
  const startedAt = performance.now();
  const show = () => {
    const line = describePosition(options.position(), performance.now() - startedAt);
    if (isTerminal) stderr.write(`${eraseLine}${line.slice(0, (stderr.columns || 80) - 1)}`);
    else printNotice({ stderr }, line);
  };
  const timer = setInterval(show, isTerminal ? redrawMs : lineMs).unref();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      if (isTerminal) stderr.write(eraseLine);
    },
  };
}

/** @param elapsedMs the time since the start of the command. */
export function describePosition({ rows, part }: Position, elapsedMs: number): string {
  const perSecond = elapsedMs > 0 ? Math.round((rows / elapsedMs) * 1000) : 0;
  const parts = [`${formatCount(rows)} rows`, `${formatCount(perSecond)} rows/s`];
  if (part !== undefined && part > 0) {
    const done = Math.min(part, 1);
    const full = Math.floor(done * barWidth);
    parts.unshift(`[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}] ${Math.floor(done * 100)} %`);
    parts.push(`${formatSeconds((elapsedMs / done - elapsedMs) / 1000)} left`);
  }
  return parts.join(', ');
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}
