import type { Principal } from '../credential/principal.ts';
import { may } from '../credential/roles.ts';
import type { disabledReasons } from './endpoint.schema.ts';

/** A webhook or a postback. */
export type EndpointKind = 'webhook' | 'postback';

/** The webhooks and postbacks that a member can see. */
export interface EndpointScope {
  readonly workspaceId: string;
  /** The user whose postbacks are visible. If absent, those of all users are, for the command line. */
  readonly userId?: string | undefined;
  /** Whether the webhooks and the postbacks of the workspace are visible. */
  readonly isManager: boolean;
}

/** The state of a webhook or a postback. */
export interface EndpointState {
  readonly id: string;
  readonly disabledAt?: Date | undefined;
  readonly disabledReason?: (typeof disabledReasons)[number] | undefined;
  readonly failures: number;
  readonly failingSince?: Date | undefined;
  readonly lastSuccessAt?: Date | undefined;
  /** The share of the newest attempted deliveries that succeeded, from 0 to 1. Absent if there are none. */
  readonly successRate?: number | undefined;
  /** The time of the next attempt of a waiting delivery. Absent if none waits. */
  readonly nextAttemptAt?: Date | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A member of a workspace, or the command line, which has no user. */
export interface EndpointMember extends Pick<Principal, 'workspaceId' | 'role'> {
  readonly userId?: string | undefined;
}

/**
 * Returns the visible webhooks and postbacks. A publisher sees the postbacks of its own. Owners and managers also see the
 * webhooks and the postbacks of the workspace.
 */
export function endpointsVisibleTo({ workspaceId, userId, role }: EndpointMember): EndpointScope {
  return { workspaceId, userId, isManager: may(role, 'manageEndpoints') };
}

/** Returns the representation of the state of a webhook or a postback. */
export function stateView(state: EndpointState) {
  const { id, disabledAt, disabledReason, failures, failingSince, lastSuccessAt, successRate } = state;
  // Nothing is due while it is disabled. What still waits is about to be skipped.
  const nextAttemptAt = disabledAt === undefined ? state.nextAttemptAt : undefined;
  const overdueMs = nextAttemptAt === undefined ? 0 : Date.now() - nextAttemptAt.getTime();
  return {
    id,
    enabled: disabledAt === undefined,
    ...(disabledReason !== undefined && { disabledReason }),
    ...(disabledAt !== undefined && { disabledAt: disabledAt.toISOString() }),
    failures,
    ...(failingSince !== undefined && { failingSince: failingSince.toISOString() }),
    ...(lastSuccessAt !== undefined && { lastSuccessAt: lastSuccessAt.toISOString() }),
    ...(successRate !== undefined && { successRate }),
    ...(nextAttemptAt !== undefined && { nextAttemptAt: nextAttemptAt.toISOString() }),
    lagSeconds: Math.max(0, Math.floor(overdueMs / 1_000)),
    createdAt: state.createdAt.toISOString(),
    updatedAt: state.updatedAt.toISOString(),
  };
}

/** Returns a text, or undefined for an empty one: an empty text of a request means that there is no value. */
export const textOrNone = (text: string | undefined) => (text === '' ? undefined : text);
