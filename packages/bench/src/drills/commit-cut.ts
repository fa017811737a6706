import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '@leads/core/with-timeout';
import { CommitCutter } from './commit-cutter.ts';
import type { Drill, Scenario } from './drill.ts';
import { submitLead } from './single-lead.ts';

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
        await withTimeout(patienceMs, isCut);
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
async function acknowledge(drill: Drill, number: number): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    if ((await submitLead(drill, { repeatable: `cut-${number}` })) === '200') return;
    await sleep(betweenTriesMs);
  }
}
