import type { ListedLead, StoredLead } from './lead.ts';

/** Which leads a list may show: one workspace's, or in it only those of one user. */
export interface LeadScope {
  readonly workspaceId: string;
  readonly userId?: string | undefined;
}

/** A place in the order of the list: newest first, by creation time and then by id. */
export interface LeadPosition {
  readonly createdAt: Date;
  readonly id: string;
}

/** Where leads are kept. */
export interface LeadStore {
  /**
   * Stores one lead or many, all or none, in one statement. A lead whose id is stored already is left as it
   * stands, so that the same leads can be sent again after an answer that never came.
   *
   * @returns the ids that this call added.
   * @throws LeadsError `unavailable` when the database cannot be reached.
   */
  insert(leads: readonly StoredLead[]): Promise<ReadonlySet<string>>;

  /** At most `limit` leads of the scope that come after a position, newest first. */
  list(scope: LeadScope, limit: number, after?: LeadPosition): Promise<ListedLead[]>;
}
