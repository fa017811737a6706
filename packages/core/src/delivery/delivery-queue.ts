import type { LeadEvent } from '../event/lead-event.schema.ts';
import type { LeadStatus } from '../lead/lead-transitions.ts';
import type { BodyFormat } from './postback-request.ts';

/** A delivery that a worker has claimed. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly workspaceId: string;
  readonly endpointId: string;
  readonly leaseId: string;
  readonly type: string;
  /** Absent for a test, as is `version`. */
  readonly leadId?: string | undefined;
  readonly version?: number | undefined;
  /** The number of earlier attempts. */
  readonly attempts: number;
  /** For how long it was due, in seconds. */
  readonly lateSeconds: number;
  readonly url: string;
  /** Sealed, as are `previousSecret` and `headers`. Absent for a postback. */
  readonly secret?: string | undefined;
  /** Present during the overlap of a rotation. */
  readonly previousSecret?: string | undefined;
  readonly headers?: string | undefined;
  /** Present for a postback. Its `url` is a template. */
  readonly postback?: ClaimedPostback | undefined;
}

/** The settings of a postback, and the state of its deliveries for the lead. */
export interface ClaimedPostback {
  readonly method: 'GET' | 'POST';
  readonly bodyFormat?: BodyFormat | undefined;
  readonly body?: string | undefined;
  readonly statuses: readonly [LeadStatus, ...LeadStatus[]];
  readonly sendsWithoutS1: boolean;
  readonly answerContains?: string | undefined;
  /**
   * The hash of the last request for the lead. Absent if that was not delivered, and for a delivery that a member sends
   * again.
   */
  readonly lastRequestHash?: string | undefined;
  /**
   * Whether a newer status of the lead overtakes the delivery: any for a retry, one whose first attempt has begun for a
   * first attempt. False for a delivery that a member sends again.
   */
  readonly isOvertaken: boolean;
}

/** An enabled endpoint with a delivery that is due. */
export interface DueEndpoint {
  readonly id: string;
  readonly workspaceId: string;
}

/** The result of an attempt, or of a claim that ends without an attempt. */
export interface AttemptOutcome {
  readonly id: string;
  readonly endpointId: string;
  readonly leaseId: string;
  readonly state: 'waiting' | 'delivered' | 'failed' | 'skipped' | 'superseded';
  /** Only for `skipped`. */
  readonly skipReason?: 'no_s1' | 'unchanged' | undefined;
  /** The attempts so far. */
  readonly attempts: number;
  /** The pause before the next attempt, in milliseconds. Only for `waiting`. */
  readonly retryMs?: number | undefined;
  /** Absent if there was no attempt. */
  readonly attempt?: Attempt | undefined;
}

/** An attempt to send a delivery. */
interface Attempt {
  readonly isSuccess: boolean;
  readonly durationMs: number;
  readonly statusCode?: number | undefined;
  readonly error?: string | undefined;
  /** The beginning of the answer, if the attempt failed. */
  readonly answer?: string | undefined;
  /** The text for the log, without personal data, and the keyed hash of a delivered request. Only for postbacks. */
  readonly request?: string | undefined;
  readonly requestHash?: string | undefined;
  /** Whether the receiver wants no more deliveries. */
  readonly isDisableRequested: boolean;
}

/** The number of waiting deliveries, and the age of the oldest without an attempt, in seconds. */
export interface DeliveryBacklog {
  readonly waiting: number;
  readonly lagSeconds: number;
}

/** The event of a version of a lead. */
interface EventRef {
  readonly leadId: string;
  readonly version: number;
}

/**
 * The queue of deliveries of all workspaces, for workers. Any number of workers may use it at the same time. Methods
 * throw LeadsError `unavailable` if the database is unavailable.
 */
export interface DeliveryQueue {
  /**
   * Creates the deliveries of the oldest changes of leads.
   *
   * @param maxRows the maximum number of statements whose changes are taken.
   * @returns the number of statements, and for how long the first one waited; both are 0 if there are none.
   */
  plan(maxRows: number): Promise<{ readonly statements: number; readonly lateSeconds: number }>;
  dueEndpoints(): Promise<DueEndpoint[]>;
  /**
   * Claims the oldest due deliveries of endpoints.
   *
   * @param room the maximum number of deliveries by endpoint.
   * @param leaseMs after this time, the deliveries are due again, unless they are completed.
   */
  claim(room: ReadonlyMap<string, number>, leaseMs: number): Promise<ClaimedDelivery[]>;
  /**
   * Returns a function that returns the event of a version of a lead; undefined for a lead that was deleted.
   *
   * @param workspaceId the workspace of the leads.
   */
  readEvents(
    workspaceId: string,
    events: readonly EventRef[],
  ): Promise<(leadId: string, version: number) => LeadEvent | undefined>;
  /**
   * Stores results, and disables endpoints that want no more deliveries or fail for too long. The result of a claim whose
   * lease another worker holds by now is ignored.
   *
   * @returns the ids of the endpoints that were disabled.
   */
  complete(outcomes: readonly AttemptOutcome[]): Promise<string[]>;
  backlog(): Promise<DeliveryBacklog>;
  /**
   * Creates notices about endpoints that have failed for 24 h, or that were disabled by an answer or by failures. Each
   * incident has one notice for each member that manages the endpoint. Returns the number of notices.
   */
  createNotices(): Promise<number>;
  /** Skips waiting deliveries of disabled endpoints. Returns their number, `max` at most. */
  skipDisabled(max: number): Promise<number>;
  /** Deletes deliveries that ended before a time, and those of deleted endpoints. Returns their number, `max` at most. */
  deleteOld(before: Date, max: number): Promise<number>;
}
