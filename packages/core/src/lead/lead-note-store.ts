import type { StoredLead } from './lead.ts';
import type { Traced } from './lead-store.ts';

/** A stored note. */
export interface StoredNote {
  readonly id: string;
  readonly text: string;
  /** The note that begins the thread; absent if this note does. */
  readonly parentId?: string | undefined;
  readonly authorId: string;
  /** The name of the author. */
  readonly author: string;
  readonly createdAt: Date;
}

type LeadRef = Pick<StoredLead, 'id' | 'workspaceId'>;

/** The store of notes. Every method throws LeadsError `unavailable` if the database is unavailable. */
export interface LeadNoteStore {
  /**
   * Adds a note and its entry in the history of the lead, in one transaction. The version of the lead increases by 1.
   *
   * @returns the stored note and the new version; `undefined` if the lead was deleted meanwhile.
   */
  add(
    lead: LeadRef,
    note: Pick<StoredNote, 'id' | 'text' | 'parentId' | 'authorId'> & Traced,
  ): Promise<{ note: StoredNote; version: number } | undefined>;

  /** Returns up to `limit` notes of a lead, newest first, after a position. */
  list(
    lead: LeadRef,
    limit: number,
    after?: { readonly at: Date; readonly id: string },
  ): Promise<StoredNote[]>;

  /** Finds a note of a lead. */
  find(lead: LeadRef, id: string): Promise<StoredNote | undefined>;
}
