import { StoreError } from '../errors.ts';
import { insertEach } from './insert-each.ts';
import type { LeadStore, LeadToInsert } from './lead-store.ts';

/** A lead that the service accepted and the database rejected later. */
export interface QuarantinedLead {
  readonly lead: LeadToInsert;
  /** The SQLSTATE of the last rejection (PostgreSQL, appendix A), if known. */
  readonly reason?: string | undefined;
  readonly quarantinedAt: Date;
}

/** A store for rejected leads. Methods throw LeadsError `unavailable` if the database is unavailable. */
export interface LeadQuarantine {
  /** Adds leads. For a lead that is in the quarantine already, only the reason is updated. */
  add(leads: readonly Omit<QuarantinedLead, 'quarantinedAt'>[]): Promise<void>;
  /** Returns up to `limit` leads in the order of their ids, after an id. */
  list(limit: number, afterId?: string): Promise<QuarantinedLead[]>;
  find(ids: readonly string[]): Promise<QuarantinedLead[]>;
  /** Removes leads and returns the ids of the removed leads. */
  remove(ids: readonly string[]): Promise<string[]>;
}

/** The result of a replay: the ids of the stored and of the rejected leads. */
export interface ReplayReport {
  readonly stored: readonly string[];
  readonly refused: readonly { readonly id: string; readonly reason?: string | undefined }[];
}

/** Stores leads of the quarantine, unchanged, and removes them from it. A lead that is rejected again stays. */
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
