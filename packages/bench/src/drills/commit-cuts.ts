import { withTimeout } from '@leads/core/with-timeout';
import { waitUntil } from '../stack/wait-until.ts';
import { CommitCutter } from './commit-cutter.ts';
import type { Scenario } from './drill.ts';
import { submitLead } from './submit-lead.ts';

/** The timeout for the acknowledgement of a lead, and for the cut of its commit. */
const timeoutMs = 20_000;
const retryMs = 100;

/**
 * Creates a scenario that sends one lead at a time with an Idempotency-Key until it is acknowledged. The
 * first commit of each lead is cut.
 */
export function cutCommits(): Omit<Scenario, 'title'> {
  const cutter = new CommitCutter();
  return {
    stack: { proxy: { tap: () => cutter.tap() } },
    sendsLeads: true,
    async run(drill) {
      const leads = drill.isShort ? 20 : 200;
      for (let number = 1; number <= leads; number++) {
        const cut = cutter.cutNext();
        const idempotencyKey = `cut-${number}`;
        await waitUntil(
          async () => (await submitLead(drill, { idempotencyKey })) === '200',
          timeoutMs,
          retryMs,
        );
        await withTimeout(timeoutMs, cut);
        if (number % 50 === 0) drill.onProgress(`  ${number} of ${leads} leads`);
      }
      return {
        endedAt: Date.now(),
        notes: (answers) => [
          { name: 'cut after the commit was sent', found: String(cutter.cuts), required: String(leads) },
          {
            name: 'leads acknowledged in the end',
            found: String(answers.filter(({ id }) => id !== undefined).length),
            required: String(leads),
          },
        ],
      };
    },
  };
}
