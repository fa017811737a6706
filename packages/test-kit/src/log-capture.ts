import { isIndiscreet } from './canaries.ts';

/** Collects a service's log lines: give it to the logger as its destination. */
export class LogCapture {
  readonly lines: string[] = [];

  write(line: string): void {
    this.lines.push(line);
  }

  entries(): Record<string, unknown>[] {
    return this.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** @throws Error with the first line that holds a secret or personal data that a test sent. */
  assertDiscreet(): void {
    const line = this.lines.find(isIndiscreet);
    if (line !== undefined) throw new Error(`A log line holds what a caller sent: ${line}`);
  }
}
