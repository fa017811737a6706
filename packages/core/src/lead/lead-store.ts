import type { Lead } from './lead.schema.ts';
import type { FoundLead, StoredLead } from './lead.ts';
import type { LeadScope } from './lead-scope.ts';
import type { LeadStatus } from './lead-status.ts';
import type { LeadSearch, PhoneSearch } from './search.ts';

/** Of the request that something came of, where it is traced: a `traceparent` (W3C Trace Context, 3.2). */
export interface Traced {
  readonly traceparent?: string | undefined;
}

/**
 * A lead to be stored. Within the campaign's duplicate window, in seconds, it is a duplicate. The event of its creation
 * carries on its trace.
 */
export type LeadToInsert = StoredLead & Traced & { readonly duplicateWindowSeconds?: number | undefined };

/** Which leads of a scope are meant; what is absent does not matter. */
export interface LeadFilter {
  readonly status?: LeadStatus | undefined;
  readonly campaignCode?: string | undefined;
  readonly createdFrom?: Date | undefined;
  /** Exclusive. */
  readonly createdTo?: Date | undefined;
  readonly updatedSince?: Date | undefined;
  readonly phone?: PhoneSearch | undefined;
  readonly s1?: string | undefined;
  readonly lpName?: string | undefined;
  readonly source?: StoredLead['source'] | undefined;
  readonly search?: LeadSearch | undefined;
}

/** By which time leads are ordered, and then by id, in the same direction. */
export interface LeadOrder {
  readonly by: 'createdAt' | 'updatedAt';
  readonly direction: 'ascending' | 'descending';
}

/** A place in an order: the time it goes by, and the id. */
export interface LeadPosition {
  readonly time: Date;
  readonly id: string;
}

export interface LeadSelection {
  readonly scope: LeadScope;
  readonly filter: LeadFilter;
  readonly order: LeadOrder;
}

/** A piece of a selection: at most `limit` leads that come after a position. */
export interface LeadPiece {
  readonly limit: number;
  readonly after?: LeadPosition | undefined;
}

/** What was done to a lead after its creation. */
export interface LeadChange {
  readonly version: number;
  readonly userId: string;
  readonly status?: { readonly from: LeadStatus; readonly to: LeadStatus } | undefined;
  readonly reason?: string | undefined;
  /** By field, what it was and what it became. */
  readonly fields?: Readonly<Record<string, { readonly from?: unknown; readonly to?: unknown }>> | undefined;
  readonly createdAt: Date;
}

/** Where leads are kept. Every method throws LeadsError `unavailable` when the database cannot be reached. */
export interface LeadStore {
  /**
   * Stores one lead or many, all or none. A lead whose id is stored already is left as it stands, so that the
   * same leads can be sent again after an answer that never came. Where a campaign has a duplicate window,
   * duplicates among the leads and of those that are stored are made out one by one, however many instances
   * store at once.
   *
   * @param workspaceId where all are of one workspace; the CRM, which is held to one at a time, has to say it.
   * @returns by id, the leads that this call added, as they are stored: a duplicate is trashed.
   */
  insert(leads: readonly LeadToInsert[], workspaceId?: string): Promise<ReadonlyMap<string, StoredLead>>;

  /** The representations of the leads of a piece, in order: what is shown is all that is read. */
  list(selection: LeadSelection, piece: LeadPiece): Promise<Lead[]>;
  /** Everything about the leads of a piece, in order. */
  scan(selection: LeadSelection, piece: LeadPiece): Promise<FoundLead[]>;
  count(selection: LeadSelection): Promise<number>;

  /** The leads of a scope among those of the given ids, in no order. */
  find(scope: LeadScope, ids: readonly string[]): Promise<FoundLead[]>;

  /**
   * Changes leads of a workspace and adds to their histories, in one transaction. Each lead is given as it shall be, its version
   * one above the one it was read in; a lead that has moved on meanwhile is left alone.
   *
   * @returns the ids of the leads that were changed, with the time of their change.
   */
  change(
    workspaceId: string,
    changes: readonly (Traced & { readonly lead: StoredLead; readonly change: LeadChange })[],
  ): Promise<ReadonlyMap<string, Date>>;

  /** The changes of a lead above a version, oldest first, `limit` at most. */
  history(
    lead: Pick<StoredLead, 'id' | 'workspaceId'>,
    aboveVersion: number,
    limit: number,
  ): Promise<LeadChange[]>;
}
