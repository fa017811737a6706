import { isConfidential } from './confidential.ts';

/** A destination for a logger, which keeps the log lines. */
export class LogCapture {
  readonly lines: string[] = [];

  write(line: string): void {
    this.lines.push(line);
  }

  entries(): Record<string, unknown>[] {
    return this.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** @throws Error with the first line that contains a secret or personal data. */
  assertNothingConfidential(): void {
    const line = this.lines.find(isConfidential);
    if (line !== undefined) throw new Error(`Confidential data in a log line: ${line}`);
  }
}
