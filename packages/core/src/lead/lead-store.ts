import type { FoundLead, StoredLead } from './lead.ts';
import type { LeadPayout } from '../payout/payout.schema.ts';
import type { LeadScope } from './lead-scope.ts';
import type { LeadStatus } from './lead-status.ts';
import type { LeadSearch, PhoneSearch } from './search.ts';
import type { OptionalSortField, SortField } from './sort-fields.ts';

/** The `traceparent` (W3C Trace Context, 3.2) of the request, if the request is traced. */
export interface Traced {
  readonly traceparent?: string | undefined;
}

/** A lead to store. The event of its creation continues the trace. */
export type LeadToInsert = StoredLead &
  Traced & {
    /** The duplicate window of its campaign. */
    readonly duplicateWindowSeconds?: number | undefined;
    /** The hold time of its campaign. It begins when the lead is stored. */
    readonly approveAfterSeconds?: number | undefined;
    /** The id that the release before derived from its Idempotency-Key. */
    readonly earlierId?: string | undefined;
    /**
     * The workspace of the request's credentials. Row-level security rejects the lead if it is of another workspace.
     * Required in the CRM. The intake's database role can insert leads of every workspace.
     */
    readonly actingWorkspaceId?: string | undefined;
    /** Whether an import creates the lead. Leads of an import are stored without other leads. */
    readonly isImported?: boolean | undefined;
  };

/**
 * A mutable lead to store. Setting its fields one by one avoids object spread: with it, a lead with a hold time took 78 instead
 * of 65 us of the intake.
 */
export type LeadDraft = { -readonly [Field in keyof LeadToInsert]: LeadToInsert[Field] };

/** The result of storing one lead. */
export type InsertOutcome =
  /** The lead as it is stored: a duplicate is trashed. */
  | { readonly result: 'added'; readonly lead: StoredLead }
  /** The id of the lead that was stored before by the same request. */
  | { readonly result: 'repeated'; readonly id: string }
  /** A lead with the same id and other content is stored. */
  | { readonly result: 'key_reused' }
  /** The lead is stored outside of the database, and will be stored in it. */
  | { readonly result: 'buffered' }
  /** The lead is not stored, because its workspace has its share of the room for leads outside of the database. */
  | { readonly result: 'unavailable' };

/** Conditions for leads of a scope. An absent condition matches every lead. */
export interface LeadFilter {
  /** Only leads with these ids. */
  readonly ids?: readonly string[] | undefined;
  /** A lead must have one of them. */
  readonly statuses?: readonly LeadStatus[] | undefined;
  /** The id of the user that the leads belong to. */
  readonly user?: string | undefined;
  readonly campaignCode?: string | undefined;
  /** The id of a payment that has the leads. */
  readonly paymentId?: string | undefined;
  readonly createdFrom?: Date | undefined;
  /** Exclusive. */
  readonly createdTo?: Date | undefined;
  readonly updatedSince?: Date | undefined;
  readonly phone?: PhoneSearch | undefined;
  readonly s1?: string | undefined;
  readonly lpName?: string | undefined;
  /** The first 64 characters are compared. */
  readonly country?: string | undefined;
  readonly source?: StoredLead['source'] | undefined;
  /** `null` for leads without an assignee. */
  readonly assigneeId?: string | null | undefined;
  /** Whether the time to call back has come. */
  readonly isCallbackDue?: true | undefined;
  /** The field that the leads have a value in. */
  readonly has?: OptionalSortField | undefined;
  readonly search?: LeadSearch | undefined;
}

/**
 * The field by which leads are ordered. Leads of the same value are ordered by their creation. Leads of the same time are
 * ordered by id. All of it has the same direction, as in the index. `s1` and `lpName` are an exception: their indexes have
 * the newest lead of a value first.
 */
export interface LeadOrder {
  readonly by: SortField;
  readonly direction: 'ascending' | 'descending';
}

/** A position in an order: a time and an id, after the value if the order is not by a time. */
export interface LeadPosition {
  readonly value?: string | undefined;
  readonly time: Date;
  readonly id: string;
}

export interface LeadSelection {
  readonly scope: LeadScope;
  readonly filter: LeadFilter;
  readonly order: LeadOrder;
}

/** A part of a selection: at most `limit` leads after a position. */
export interface PageBounds {
  readonly limit: number;
  readonly after?: LeadPosition | undefined;
}

/** A page of a list: at most `limit` leads after a position, or those right before a position. */
interface ListBounds extends PageBounds {
  readonly before?: LeadPosition | undefined;
}

/** A page of a list. It is bytes instead of an object for each lead, because a list sends it as it is. */
export interface LeadPage {
  /** The leads in the order of the selection, as the JSON of an array of the schema `Lead` in UTF-8. */
  readonly json: Buffer;
  /** The first and the last lead; undefined without leads. */
  readonly ends: readonly [first: LeadEnd, last: LeadEnd] | undefined;
  /** Whether there are more leads in the direction of the read. */
  readonly hasMore: boolean;
}

/** The first or the last lead of a page, with the fields of its position. Times are in ISO 8601. */
export interface LeadEnd {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The value of the field of the order, if the order is by another field than these. */
  readonly value?: string | undefined;
}

/**
 * The fields of a lead in the order of {@link detailFields}, as texts. Times are in ISO 8601, `extra` is JSON, and a payout
 * has its values separated by spaces: `12.5 EUR campaign`. An export reads millions of leads, and objects of them would take twice as long.
 */
export type LeadTexts = readonly (string | null)[];

/** A change of a lead after its creation. */
export interface LeadChange {
  readonly version: number;
  /** Absent for the end of a hold time. */
  readonly userId?: string | undefined;
  readonly status?: { readonly from: LeadStatus; readonly to: LeadStatus } | undefined;
  readonly reason?: string | undefined;
  /** The old and the new value of each changed field. If absent, the change is stored for the status only. */
  readonly fields?: Readonly<Record<string, { readonly from?: unknown; readonly to?: unknown }>> | undefined;
  /** The id of the line of an import that made the change, which an import under the same key derives again. */
  readonly requestId?: string | undefined;
  /** The id of the job, or of the assignment of several leads, that made the change. */
  readonly bulkId?: string | undefined;
  readonly createdAt: Date;
}

/** A change that a job, or an assignment of several leads, made to a lead, and what an undo must know of the lead. */
export interface BulkChange extends Pick<LeadChange, 'status' | 'fields'> {
  readonly id: string;
  /** The reason of the status before the change. */
  readonly reasonBefore?: string | undefined;
  /** The status and the version that the lead has now. */
  readonly statusNow: LeadStatus;
  readonly version: number;
  /** The `bulkId` of the newest change of the lead. */
  readonly newestBulkId?: string | undefined;
  /** Whether a payment is about to pay the lead, or has paid it. */
  readonly isInPayment: boolean;
}

/** A lead in its new state, and the entry in its history. */
export type ChangedLead = Traced & { readonly lead: StoredLead; readonly change: LeadChange };

/** The values of a changed lead that the database sets. */
export interface LeadAfterChange {
  readonly updatedAt: Date;
  readonly payout?: LeadPayout | undefined;
}

/** A change of the status of a lead that was not read before. */
export type StatusChangeFrom = Traced &
  Pick<LeadChange, 'userId' | 'reason' | 'createdAt'> & {
    readonly id: string;
    /** The lead is changed if its status is one of these. */
    readonly from: readonly LeadStatus[];
    readonly to: LeadStatus;
  };

/** A store of leads. Every method throws LeadsError `unavailable` if the database is unavailable. */
export interface LeadStore {
  /**
   * Stores leads, all or none. A lead whose id is stored already stays unchanged, so that a request without a response
   * can be repeated. The content hash of the given lead, if it has one, must be equal to that of the stored lead. In a
   * campaign with a duplicate window, duplicates are detected among the added and the stored leads, also across instances
   * that store concurrently.
   *
   * @returns the outcome of each lead, in the order of the leads.
   */
  insert(leads: readonly LeadToInsert[]): Promise<readonly InsertOutcome[]>;

  /** Returns a page of the representations of leads. Only the columns of the representation are read. */
  list(selection: LeadSelection, page: ListBounds): Promise<LeadPage>;
  /** Returns leads in order, with all their fields as texts. */
  scan(selection: LeadSelection, page: PageBounds): Promise<LeadTexts[]>;
  count(selection: LeadSelection): Promise<number>;

  /** Returns the leads with the given ids that are in the scope, in no particular order. */
  find(scope: LeadScope, ids: readonly string[]): Promise<FoundLead[]>;

  /**
   * Changes leads of a workspace and adds to their histories, in one transaction. Each lead is given in its new state,
   * with the version that it was read in plus one. A lead that was changed since it was read stays unchanged.
   *
   * The status decides whether the lead has a fixed payout. The history notes each change of a payout.
   *
   * @returns the changed leads by their ids.
   */
  change(workspaceId: string, changes: readonly ChangedLead[]): Promise<ReadonlyMap<string, LeadAfterChange>>;

  /**
   * Changes leads as {@link LeadStore.change} does, those of several workspaces in one transaction.
   *
   * @returns the changed leads of each workspace by their ids, in the order of the workspaces.
   */
  changeInEach(
    workspaces: readonly { readonly workspaceId: string; readonly changes: readonly ChangedLead[] }[],
  ): Promise<readonly ReadonlyMap<string, LeadAfterChange>[]>;

  /** Returns up to `limit` changes with a `bulkId`, by the ids of their leads, which are above `afterId`. */
  bulkChanges(
    bulk: { readonly workspaceId: string; readonly bulkId: string },
    page: { readonly limit: number; readonly afterId?: string | undefined },
  ): Promise<BulkChange[]>;
  /** Returns the number of changes with a `bulkId`. */
  countBulkChanges(bulk: { readonly workspaceId: string; readonly bulkId: string }): Promise<number>;
  /** Returns those of the given leads that have a change with a `bulkId`, by their ids. */
  findBulkChanged(
    bulk: { readonly workspaceId: string; readonly bulkId: string },
    ids: readonly string[],
  ): Promise<ReadonlySet<string>>;

  /** Returns the changes of statuses that lines of imports made, by their request ids. */
  findStatusRequests(
    workspaceId: string,
    requestIds: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly leadId: string; readonly status: LeadStatus }>>;

  /**
   * Changes the status of a lead of a workspace, whatever its version, and adds to its history, in one transaction. The
   * change also ends the hold of the lead.
   *
   * @returns the changed lead; undefined if the workspace has no such lead, or the lead has another status.
   */
  changeStatus(workspaceId: string, change: StatusChangeFrom): Promise<FoundLead | undefined>;

  /**
   * Changes the status of leads as {@link LeadStore.changeStatus} does, those of several workspaces in one transaction.
   * Each lead must occur once.
   *
   * @returns the changed leads of each workspace by their ids, in the order of the workspaces.
   */
  changeStatusInEach(
    workspaces: readonly { readonly workspaceId: string; readonly changes: readonly StatusChangeFrom[] }[],
  ): Promise<readonly ReadonlyMap<string, FoundLead>[]>;

  /** Returns up to `limit` changes of a lead after a version, oldest first: those of about 2 MiB, and at least one. */
  history(
    lead: Pick<StoredLead, 'id' | 'workspaceId'>,
    aboveVersion: number,
    limit: number,
  ): Promise<LeadChange[]>;

  /** Returns the change of a version of a lead, and the later changes merged into one, as the event of the version needs. */
  changesOfEvent(lead: Pick<StoredLead, 'id' | 'workspaceId'>, version: number): Promise<LeadChange[]>;
}
