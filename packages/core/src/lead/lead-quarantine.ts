import { StoreError } from '../errors.ts';
import { insertEach } from './insert-each.ts';
import type { LeadStore, LeadToInsert } from './lead-store.ts';

/** A lead that was taken, and that the database refused later, when it was to be stored. */
export interface QuarantinedLead {
  readonly lead: LeadToInsert;
  /** Why it was refused last: the SQLSTATE (PostgreSQL, appendix A), where it is known. */
  readonly reason?: string | undefined;
  readonly quarantinedAt: Date;
}

/** Where leads are kept that cannot be stored. Methods throw LeadsError `unavailable` without the database. */
export interface LeadQuarantine {
  /** Of a lead that is there already only the reason is noted anew. */
  add(leads: readonly Omit<QuarantinedLead, 'quarantinedAt'>[]): Promise<void>;
  /** By id, `limit` at most, after one. */
  list(limit: number, afterId?: string): Promise<QuarantinedLead[]>;
  find(ids: readonly string[]): Promise<QuarantinedLead[]>;
  /** @returns the ids of those that were there. */
  remove(ids: readonly string[]): Promise<string[]>;
}

/** What became of leads that were tried again: by id, and of those that were refused again why. */
export interface ReplayReport {
  readonly stored: readonly string[];
  readonly refused: readonly { readonly id: string; readonly reason?: string | undefined }[];
}

/** Stores leads of the quarantine, as they were taken, and takes them out of it. One that is refused again stays. */
export async function replayQuarantined(
  stores: { readonly leads: Pick<LeadStore, 'insert'>; readonly quarantine: LeadQuarantine },
  entries: readonly QuarantinedLead[],
): Promise<ReplayReport> {
  const stored: string[] = [];
  const refused: Omit<QuarantinedLead, 'quarantinedAt'>[] = [];
  await insertEach(stores.leads, entries, {
    async stored(items) {
      const ids = items.map(({ lead }) => lead.id);
      await stores.quarantine.remove(ids);
      stored.push(...ids);
    },
    rejected: ({ lead }, error) => refused.push({ lead, reason: refusalReason(error) }),
  });
  if (refused.length > 0) await stores.quarantine.add(refused);
  return { stored, refused: refused.map(({ lead, reason }) => ({ id: lead.id, reason })) };
}

/** Returns the SQLSTATE of an error with which {@link insertEach} rejects a lead. */
export function refusalReason(error: unknown): string | undefined {
  return error instanceof StoreError ? error.sqlState : undefined;
}
