import { setTimeout as sleep } from 'node:timers/promises';
import { LeadsError } from '../errors.ts';
import type { RetainedCampaign, RetentionCursor, RetentionStore } from './retention-store.ts';

/** The number of leads that one transaction deletes, and the pause after it for other users of the database. */
const leadsPerTransaction = 1_000;
const entriesPerTransaction = 10_000;
const pauseMs = 100;
const dayMs = 86_400_000;

export interface RetentionReport {
  /** The campaigns with a retention period, with their leads deleted or, in a dry run, to delete. */
  readonly campaigns: readonly (Omit<RetainedCampaign, 'id'> & { readonly leads: number })[];
  /** The expired entries of the audit log. */
  readonly auditEntries: number;
  /** False if there may be more to delete: the maximum was reached, or the run was aborted. */
  readonly isComplete: boolean;
}

/**
 * Deletes leads past the retention period of their campaign, in small transactions. The process may be killed at any time.
 *
 * @param options.auditDays the age in days at which entries of the audit log expire.
 * @param options.maxLeads ends the run when as many leads are deleted, including quarantined leads.
 * @param options.onDeleted receives the number of deleted leads after each transaction.
 * @throws LeadsError `conflict` if another run is in progress; `unavailable`
 */
export async function runRetention(
  store: RetentionStore,
  options: {
    isDryRun: boolean;
    auditDays: number;
    maxLeads: number;
    signal: AbortSignal;
    onDeleted: (leads: number) => void;
  },
): Promise<RetentionReport> {
  const { isDryRun, signal } = options;
  const now = Date.now();
  const campaigns: (Omit<RetainedCampaign, 'id'> & { leads: number })[] = [];
  let left = options.maxLeads;
  for (const { id, ...campaign } of await store.campaigns()) {
    const before = new Date(now - campaign.retentionDays * dayMs);
    if (isDryRun) {
      campaigns.push({ ...campaign, leads: await store.count(id, before) });
      continue;
    }
    let leads = 0;
    let after: RetentionCursor | undefined;
    while (left > 0 && !signal.aborted) {
      const maxLeads = Math.min(leadsPerTransaction, left);
      const deleted = await store.deleteOldest(id, before, { maxLeads, after });
      if (deleted === undefined)
        throw new LeadsError('conflict', { message: 'Another retention run is in progress' });
      leads += deleted.leads;
      left -= deleted.leads;
      options.onDeleted(deleted.leads);
      if (deleted.leads < maxLeads) break;
      after = deleted.last;
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    while (left > 0 && !signal.aborted) {
      const maxLeads = Math.min(leadsPerTransaction, left);
      const deleted = await store.deleteQuarantined(id, before, maxLeads);
      leads += deleted;
      left -= deleted;
      options.onDeleted(deleted);
      if (deleted < maxLeads) break;
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
    campaigns.push({ ...campaign, leads });
  }
  const auditEntries = await deleteAuditEntries(store, new Date(now - options.auditDays * dayMs), options);
  return { campaigns, auditEntries, isComplete: isDryRun || (left > 0 && !signal.aborted) };
}

/** Deletes expired entries of the audit log. Returns their number; in a dry run, the number to delete. */
async function deleteAuditEntries(
  store: RetentionStore,
  before: Date,
  { isDryRun, signal }: { isDryRun: boolean; signal: AbortSignal },
): Promise<number> {
  if (isDryRun) return store.countAuditEntries(before);
  let entries = 0;
  while (!signal.aborted) {
    const deleted = await store.deleteAuditEntries(before, entriesPerTransaction);
    entries += deleted;
    if (deleted < entriesPerTransaction) break;
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return entries;
}
