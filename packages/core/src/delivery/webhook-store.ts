import type { LeadEventType } from '../event/lead-event.schema.ts';
import type { LeadStatus } from '../lead/lead-status.ts';
import type { disabledReasons } from './webhook.schema.ts';
import type { PostbackDeliveryState } from './postback.schema.ts';

/** The subscription of a webhook: the events that it receives, and where. */
interface Subscription {
  readonly url: string;
  readonly description?: string | undefined;
  readonly events: readonly LeadEventType[];
  /** If not empty, limits status changes to these new statuses. */
  readonly statuses: readonly LeadStatus[];
  readonly includesImports: boolean;
  readonly headerNames: readonly string[];
}

/** The state of a webhook or a postback. */
export interface EndpointState {
  readonly id: string;
  readonly disabledAt?: Date | undefined;
  readonly disabledReason?: (typeof disabledReasons)[number] | undefined;
  readonly failures: number;
  readonly failingSince?: Date | undefined;
  readonly lastSuccessAt?: Date | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A stored webhook, without its secret and the values of its headers. */
export interface Webhook extends Subscription, EndpointState {
  /** If not empty, limits events to leads of these campaigns. */
  readonly campaignCodes: readonly string[];
  readonly previousSecretUntil?: Date | undefined;
}

/** A webhook to store. The secret and the headers are sealed. */
interface WebhookToStore extends Subscription {
  readonly id: string;
  readonly campaignIds: readonly string[];
  readonly secret: string;
  readonly headers?: string | undefined;
}

/** The changes of a webhook. Absent fields stay as they are. */
export interface WebhookUpdate extends Partial<Omit<Subscription, 'headerNames'>> {
  readonly headerNames?: readonly string[] | undefined;
  readonly campaignIds?: readonly string[] | undefined;
  /** Sealed; `null` removes all headers. */
  readonly headers?: string | null | undefined;
  /** `true` also resets the failures, if it was disabled. */
  readonly enabled?: boolean | undefined;
}

/** A stored delivery. */
export interface Delivery {
  readonly id: string;
  readonly webhookId: string;
  readonly type: string;
  /** Absent for a test, as is `version`. */
  readonly leadId?: string | undefined;
  readonly version?: number | undefined;
  readonly state: PostbackDeliveryState;
  readonly attempts: number;
  readonly nextAttemptAt?: Date | undefined;
  readonly lastAttemptAt?: Date | undefined;
  readonly durationMs?: number | undefined;
  readonly statusCode?: number | undefined;
  readonly error?: string | undefined;
  readonly answer?: string | undefined;
  /** Only for postbacks, as is `request`. */
  readonly skipReason?: 'no_s1' | 'unchanged' | undefined;
  readonly request?: string | undefined;
  readonly createdAt: Date;
}

/** The filters of a list of deliveries. */
interface DeliverySelection {
  readonly webhookId: string;
  readonly state?: PostbackDeliveryState | undefined;
  readonly leadId?: string | undefined;
  readonly statusCode?: number | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
}

/** A position in a list of deliveries. */
type DeliveryPosition = Pick<Delivery, 'createdAt' | 'id'>;

/**
 * The webhooks of workspaces, and the log of their deliveries. Ids are any text. An object of another workspace is not
 * found. Methods throw LeadsError `unavailable` if the database is unavailable.
 */
export interface WebhookStore {
  /** Returns the ids of campaigns by code. Unknown codes are left out. */
  findCampaigns(workspaceId: string, codes: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** @throws LeadsError `limit_reached` */
  create(workspaceId: string, webhook: WebhookToStore): Promise<Webhook>;
  /** Lists webhooks, oldest first. */
  list(workspaceId: string): Promise<Webhook[]>;
  find(workspaceId: string, id: string): Promise<Webhook | undefined>;
  update(workspaceId: string, id: string, changes: WebhookUpdate): Promise<Webhook | undefined>;
  /** Replaces the secret. The old one stays valid until a time. */
  rotateSecret(
    workspaceId: string,
    id: string,
    secret: string,
    previousUntil: Date,
  ): Promise<Webhook | undefined>;
  /** Deletes a webhook and, later, its deliveries. Returns the deleted webhook. */
  remove(workspaceId: string, id: string): Promise<Webhook | undefined>;

  /** Lists deliveries, newest first. */
  listDeliveries(
    workspaceId: string,
    selection: DeliverySelection,
    limit: number,
    after?: DeliveryPosition,
  ): Promise<Delivery[]>;
  findDelivery(workspaceId: string, id: string): Promise<Delivery | undefined>;
  /** Adds a delivery of a test event. */
  addTest(workspaceId: string, webhookId: string): Promise<Delivery>;
  /** Makes a delivery of any state wait again, with its first attempt due now. */
  resend(workspaceId: string, id: string): Promise<Delivery | undefined>;
  /** Does the same for failed and skipped deliveries of a time range, `max` at most. Returns their number. */
  recover(
    workspaceId: string,
    webhookId: string,
    range: { readonly since: Date; readonly until: Date },
    max: number,
  ): Promise<number>;
}
