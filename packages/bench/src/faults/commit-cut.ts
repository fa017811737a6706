import { setTimeout as sleep } from 'node:timers/promises';
import { leadPath } from '../intake/lead-requests.ts';
import { recordAnswer } from './answers.ts';
import { CommitCutter } from './commit-cutter.ts';
import type { Drill, Scenario } from './drill.ts';

/** How long a lead is tried until it is acknowledged, and then for its commit to be cut wherever it is made. */
const patienceMs = 20_000;
const betweenTriesMs = 100;

/**
 * A lead at a time, each with an Idempotency-Key, sent again until it is acknowledged; of each, the first commit that
 * stores it is cut.
 */
export function cutCommits(): Omit<Scenario, 'title'> {
  const cutter = new CommitCutter();
  return {
    stack: { proxy: { tap: () => cutter.tap() } },
    isWithoutLoad: true,
    async run(drill) {
      const leads = drill.isShort ? 20 : 200;
      for (let number = 0; number < leads; number++) {
        const isCut = cutter.cutNext();
        await acknowledge(drill, number);
        await Promise.race([isCut, sleep(patienceMs, undefined, { ref: false })]);
        if (number % 50 === 49) drill.onProgress(`  ${number + 1} of ${leads} leads`);
      }
      return {
        endedAt: Date.now(),
        notes: (answers) => [
          { name: 'cut after the commit was sent', found: String(cutter.cuts), asked: String(leads) },
          {
            name: 'leads acknowledged in the end',
            found: String(answers.filter(({ id }) => id !== undefined).length),
            asked: String(leads),
          },
        ],
      };
    },
  };
}

/** Sends a lead until it is acknowledged. */
async function acknowledge({ stack, answersFile }: Drill, number: number): Promise<void> {
  const url = `http://127.0.0.1:${stack.intakePort}${leadPath}`;
  const request = {
    method: 'POST',
    headers: {
      API_KEY: stack.credentials.API_KEY,
      'Content-Type': 'application/json',
      'Idempotency-Key': `cut-${number}`,
    },
    body: JSON.stringify({ name: 'Grace Hopper', phone: '+1 202 555 0143', s1: `cut-${number}` }),
  };
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    const sentAt = performance.now();
    const { status, id } = await send(url, request);
    recordAnswer(answersFile, { at: Date.now(), tookMs: performance.now() - sentAt, status, id });
    if (id !== undefined) return;
    await sleep(betweenTriesMs);
  }
}

async function send(url: string, request: RequestInit): Promise<{ status: string; id: string | undefined }> {
  try {
    const response = await fetch(url, request);
    const { order_id: id } = (await response.json()) as { order_id?: string };
    return { status: String(response.status), id };
  } catch {
    return { status: 'broken', id: undefined };
  }
}
