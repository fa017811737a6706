import type { LeadEventType } from '../event/lead-event.schema.ts';
import type { LeadStatus } from '../lead/lead-status.ts';
import type { EndpointState } from './endpoint.ts';

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
export interface WebhookUpdate extends Partial<Omit<Subscription, 'headerNames' | 'description'>> {
  /** `null` removes it. */
  readonly description?: string | null | undefined;
  readonly headerNames?: readonly string[] | undefined;
  readonly campaignIds?: readonly string[] | undefined;
  /** Sealed; `null` removes all headers. */
  readonly headers?: string | null | undefined;
  /** `true` also resets the failures, if it was disabled. */
  readonly enabled?: boolean | undefined;
}

/**
 * The webhooks of workspaces. Ids are any text. A webhook of another workspace is not found. Methods throw LeadsError
 * `unavailable` if the database is unavailable.
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
}
