import { printNotice } from './output.ts';

/** How far a transfer has come. */
export interface Position {
  readonly rows: number;
  /** The part that is done, from 0 to 1, where it can be told. */
  readonly part?: number | undefined;
}

const redrawMs = 200;
/** Where there is no terminal, such as in a log. */
const lineMs = 5_000;
const barWidth = 20;
const eraseLine = '\r\u001b[2K';

/**
 * Tells on stderr how a transfer goes: a line that is drawn again and again on a terminal, else one every few
 * seconds.
 *
 * @param position asked for whenever there is something to tell.
 */
export function startProgress(options: {
  readonly isShown: boolean;
  readonly position: () => Position;
}): Disposable {
  if (!options.isShown) return { [Symbol.dispose]: () => undefined };
  const isTerminal = process.stderr.isTTY;
  const startedAt = performance.now();
  const tell = () => {
    const line = describePosition(options.position(), performance.now() - startedAt);
    if (isTerminal) process.stderr.write(`${eraseLine}${line.slice(0, (process.stderr.columns || 80) - 1)}`);
    else printNotice(line);
  };
  const timer = setInterval(tell, isTerminal ? redrawMs : lineMs).unref();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      if (isTerminal) process.stderr.write(eraseLine);
    },
  };
}

/** @param elapsedMs since the transfer began. */
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
