import type { DeliveryState } from './delivery.schema.ts';
import type { EndpointKind, EndpointScope, EndpointState } from './endpoint.ts';
import type { FailingEndpoint } from './endpoint.schema.ts';

/** A stored delivery. */
export interface Delivery {
  readonly id: string;
  readonly kind: EndpointKind;
  readonly endpointId: string;
  /** The URL of the webhook, or the template of the postback. */
  readonly url: string;
  readonly type: string;
  /** Absent for a test, as is `version`. */
  readonly leadId?: string | undefined;
  readonly version?: number | undefined;
  readonly state: DeliveryState;
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
  readonly endpointId?: string | undefined;
  readonly state?: DeliveryState | undefined;
  readonly leadId?: string | undefined;
  readonly statusCode?: number | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
}

/** An endpoint that has failed for 24 h, or that the service has disabled. */
export interface StoredFailingEndpoint extends Pick<FailingEndpoint, 'id' | 'kind' | 'disabledReason'> {
  readonly url: string;
  readonly description?: string | undefined;
  /** When it was disabled, or its first failed attempt since the last success. */
  readonly since: Date;
}

/** A position in a list of deliveries. */
type DeliveryPosition = Pick<Delivery, 'createdAt' | 'id'>;

/**
 * The deliveries of webhooks and postbacks. Ids are any text. What belongs to an endpoint outside of the scope is not found.
 * Methods throw LeadsError `unavailable` if the database is unavailable.
 */
export interface DeliveryStore {
  findEndpoint(
    scope: EndpointScope,
    kind: EndpointKind,
    id: string,
  ): Promise<Pick<EndpointState, 'id' | 'disabledAt'> | undefined>;
  /** Lists the endpoints that have failed for 24 h or that the service has disabled: webhooks first, oldest first. */
  listFailing(scope: EndpointScope): Promise<StoredFailingEndpoint[]>;
  /** Lists deliveries, newest first. */
  list(
    scope: EndpointScope,
    selection: DeliverySelection,
    limit: number,
    after?: DeliveryPosition,
  ): Promise<Delivery[]>;
  find(scope: EndpointScope, id: string): Promise<Delivery | undefined>;
  /** Adds a delivery of a test. The caller has found the endpoint in its scope. */
  addTest(workspaceId: string, kind: EndpointKind, endpointId: string): Promise<Delivery>;
  /**
   * Makes a delivery of any state wait again, with its first attempt due now. The request of a postback is then sent even
   * if it equals the last one for the lead.
   */
  resend(scope: EndpointScope, id: string): Promise<Delivery | undefined>;
  /**
   * Makes the failed and skipped deliveries of a time range wait again, `max` at most. The caller has found the endpoint
   * in its scope. Returns their number.
   */
  recover(
    workspaceId: string,
    endpointId: string,
    range: { readonly since: Date; readonly until: Date },
    max: number,
  ): Promise<number>;
}
