import { canaries } from './canaries.ts';

/** What must be in no log line, whatever a test sends: canaries, API keys (their prefixes too) and JWTs. */
const secrets = [/lk_[0-9A-Za-z]{4}/, /eyJ[\w-]{8}/];

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
    const text = this.lines.join('');
    if (!canaries.some((canary) => text.includes(canary)) && !secrets.some((secret) => secret.test(text)))
      return;
    const line = this.lines.find(
      (each) =>
        canaries.some((canary) => each.includes(canary)) || secrets.some((secret) => secret.test(each)),
    );
    throw new Error(`A log line holds what a caller sent: ${line}`);
  }
}
