/** A claimed mail to a member about an endpoint that fails or was disabled. */
export interface DeliveryNotice {
  readonly endpointId: string;
  readonly userId: string;
  readonly leaseId: string;
  /** The attempts to send the mail, with the one of this claim. */
  readonly attempts: number;
  readonly workspaceId: string;
  readonly workspaceName: string;
  readonly workspaceSlug: string;
  readonly email: string;
  readonly kind: 'webhook' | 'postback';
  readonly description?: string | undefined;
  /** Absent while the endpoint is enabled. */
  readonly disabledReason?: 'receiver' | 'failing' | undefined;
  readonly failingSince?: Date | undefined;
  /** Whether the incident continues, and the member still manages the endpoint and has confirmed the address. */
  readonly isCurrent: boolean;
}

/**
 * The queue of notices of all workspaces. Any number of processes may use it at the same time. Methods throw LeadsError
 * `unavailable` if the database is unavailable.
 */
export interface DeliveryNotices {
  /** Claims due notices, `max` at most. After `leaseMs`, they are due again, unless they are removed. */
  claim(max: number, leaseMs: number): Promise<DeliveryNotice[]>;
  /** Removes notices whose claim still holds. */
  remove(notices: readonly DeliveryNotice[]): Promise<void>;
  /** Makes notices whose claim still holds due after a pause. */
  retry(notices: readonly DeliveryNotice[], pauseMs: number): Promise<void>;
}
