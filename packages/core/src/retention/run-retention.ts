import { setTimeout as sleep } from 'node:timers/promises';
import { LeadsError } from '../errors.ts';
import type { RetainedCampaign, RetentionCursor, RetentionStore } from './retention-store.ts';

/** Leads of one transaction, and the pause after it in milliseconds, in which others have the database. */
const atOnce = 1_000;
const pauseMs = 100;
const dayMs = 86_400_000;

export interface RetentionReport {
  /** Those that keep leads for some time only, and how many were deleted or, where nothing is, are too old. */
  readonly campaigns: readonly (Omit<RetainedCampaign, 'id'> & { readonly leads: number })[];
  /** False where there may be more: the bound was reached, or it was interrupted. */
  readonly isComplete: boolean;
}

/**
 * Deletes leads that are older than their campaigns keep them, in small transactions: it may be killed at any time.
 *
 * @param options.most leads at most.
 * @param options.onDeleted is told how many, after each transaction.
 * @throws LeadsError `conflict` where another is at it; `unavailable`
 */
export async function runRetention(
  store: RetentionStore,
  options: {
    isDryRun: boolean;
    most: number;
    signal: AbortSignal;
    onDeleted: (leads: number) => void;
  },
): Promise<RetentionReport> {
  const { isDryRun, signal } = options;
  const now = Date.now();
  const campaigns: (Omit<RetainedCampaign, 'id'> & { leads: number })[] = [];
  let left = options.most;
  for (const { id, ...campaign } of await store.campaigns()) {
    const before = new Date(now - campaign.retentionDays * dayMs);
    if (isDryRun) {
      campaigns.push({ ...campaign, leads: await store.count(id, before) });
      continue;
    }
    let leads = 0;
    let after: RetentionCursor | undefined;
    while (left > 0 && !signal.aborted) {
      const most = Math.min(atOnce, left);
      const deleted = await store.deleteOldest(id, before, { most, after });
      if (deleted === undefined) throw new LeadsError('conflict', { message: 'Another run is at it' });
      leads += deleted.leads;
      left -= deleted.leads;
      options.onDeleted(deleted.leads);
      if (deleted.leads < most) break;
      after = deleted.last;
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    if (!signal.aborted) leads += await store.deleteQuarantined(id, before);
    campaigns.push({ ...campaign, leads });
  }
  return { campaigns, isComplete: isDryRun || (left > 0 && !signal.aborted) };
}
