import { onlineManager } from '@tanstack/react-query';

/** The interval of requests that test the connection, and the time limit of each. */
const testIntervalMs = 3_000;
const testLimitMs = 5_000;

let isTesting = false;

/** Records that the server has answered a request. */
export function recordAnswer(): void {
  if (navigator.onLine) onlineManager.setOnline(true);
}

/** Records that a request got no answer. Requests test the connection until the server answers one of them. */
export function recordNoAnswer(): void {
  if (!isTesting) void testConnection();
}

async function testConnection(): Promise<void> {
  isTesting = true;
  while (!(await isAnswering())) {
    onlineManager.setOnline(false);
    await new Promise((resolve) => setTimeout(resolve, testIntervalMs));
  }
  isTesting = false;
  recordAnswer();
}

/** Returns whether the server answers. */
export async function isAnswering(): Promise<boolean> {
  try {
    await fetch('/health/live', { cache: 'no-store', signal: AbortSignal.timeout(testLimitMs) });
    return true;
  } catch {
    return false;
  }
}
