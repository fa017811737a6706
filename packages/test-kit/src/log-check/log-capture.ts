import { isConfidential } from './confidential.ts';

/** A log destination that stores the log lines. */
export class LogCapture {
  readonly lines: string[] = [];

  write(line: string): void {
    this.lines.push(line);
  }

  entries(): Record<string, unknown>[] {
    return this.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Throws if a log line contains confidential data. @throws Error with the first such line. */
  assertNothingConfidential(): void {
    const line = this.lines.find(isConfidential);
    if (line !== undefined) throw new Error(`Confidential data in a log line: ${line}`);
  }
}
