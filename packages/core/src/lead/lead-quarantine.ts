import { LeadsError, StoreError } from '../errors.ts';
import { idOfDifferingLead } from './idempotency.ts';
import { insertEach } from './insert-each.ts';
import type { StoredLead } from './lead.ts';
import type { LeadStore, LeadToInsert } from './lead-store.ts';

/** A lead that the service accepted and the database rejected later. */
export interface QuarantinedLead {
  readonly lead: LeadToInsert;
  /**
   * The SQLSTATE of the last rejection (PostgreSQL, appendix A), if known; `idempotency_key_reused` if the lead has the
   * Idempotency-Key of another lead.
   */
  readonly reason?: string | undefined;
  readonly quarantinedAt: Date;
}

/** A store for rejected leads. Methods throw LeadsError `unavailable` if the database is unavailable. */
export interface LeadQuarantine {
  /** Adds leads. For a lead that is in the quarantine already, only the reason is updated. */
  add(leads: readonly Omit<QuarantinedLead, 'quarantinedAt'>[]): Promise<void>;
  /** Returns up to `limit` leads, oldest first, after a lead. */
  list(limit: number, after?: Pick<StoredLead, 'id' | 'createdAt'>): Promise<QuarantinedLead[]>;
  /** Returns leads by their ids, oldest first. */
  find(ids: readonly string[]): Promise<QuarantinedLead[]>;
  /** Removes leads and returns the ids of the removed leads. */
  remove(ids: readonly string[]): Promise<string[]>;
}

/** The result of a replay: the ids of the stored and of the rejected leads. */
export interface ReplayReport {
  readonly stored: readonly string[];
  readonly refused: readonly { readonly id: string; readonly reason?: string | undefined }[];
}

/**
 * Returns a lead that is stored some time after its creation, as changed now. Otherwise clients that read changes by
 * `updatedSince` would miss it.
 */
export function storedLater(lead: LeadToInsert): LeadToInsert {
  // The clock of the process that created the lead may be ahead.
  return { ...lead, updatedAt: new Date(Math.max(Date.now(), lead.createdAt.getTime())) };
}

/** Stores leads of the quarantine and removes them from it. A lead that is rejected again stays. */
export async function replayQuarantined(
  stores: { readonly leads: Pick<LeadStore, 'insert'>; readonly quarantine: LeadQuarantine },
  entries: readonly QuarantinedLead[],
): Promise<ReplayReport> {
  const stored: string[] = [];
  const refused: NewlyQuarantined[] = [];
  const replaced: string[] = [];
  const items = entries.map(({ lead }) => ({ lead: storedLater(lead) }));
  await insertEach(stores.leads, items, {
    stored: ({ lead }) => stored.push(lead.id),
    rejected({ lead }, error) {
      const rejected = toQuarantined(lead, error);
      refused.push(rejected);
      if (rejected.lead.id !== lead.id) replaced.push(lead.id);
    },
  });
  if (refused.length > 0) await stores.quarantine.add(refused);
  await stores.quarantine.remove([...stored, ...replaced]);
  return { stored, refused: refused.map(({ lead, reason }) => ({ id: lead.id, reason })) };
}

type NewlyQuarantined = Omit<QuarantinedLead, 'quarantinedAt'>;

/**
 * Returns the entry of a lead that {@link insertEach} rejects. A lead that has the Idempotency-Key of another lead gets an
 * id of its own, so that a replay stores it.
 */
export function toQuarantined(lead: LeadToInsert, error: unknown): NewlyQuarantined {
  if (error instanceof LeadsError && error.code === 'idempotency_key_reused') {
    return { lead: { ...lead, id: idOfDifferingLead(lead), earlierId: undefined }, reason: error.code };
  }
  return { lead, reason: error instanceof StoreError ? error.sqlState : undefined };
}
