import { newId } from '../uuid.ts';
import type { AuditAction, AuditSource } from './audit-actions.ts';

/** The values of an entry's details: no secrets, and no data of leads. */
type AuditDetails = Readonly<Record<string, string | number | boolean | undefined>>;

/** The request, or the command line, that an action comes from. */
export interface AuditOrigin {
  readonly source: AuditSource;
  /** The user that acts; absent for the command line and for a failed sign-in. */
  readonly actorId?: string | undefined;
  readonly apiKeyId?: string | undefined;
  /** An IPv4 or IPv6 address; empty or absent if unknown. */
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** The audit logs that an entry is written to: one workspace, or all workspaces of a user. */
type AuditScope = { readonly workspaceId: string } | { readonly userId: string } | { readonly email: string };

/** An action to record. */
export interface AuditedAction {
  readonly action: AuditAction;
  readonly scope: AuditScope;
  /** The id of the key, token, member or other object that the action concerns. */
  readonly targetId?: string | undefined;
  readonly details?: AuditDetails;
}

/** A stored entry. */
export interface AuditEntry extends AuditOrigin {
  readonly id: string;
  readonly workspaceId: string;
  readonly at: Date;
  readonly action: string;
  readonly targetId?: string | undefined;
  readonly details: AuditDetails;
}

/** An entry with the email address of its actor, if the user still exists. */
export type ListedAuditEntry = AuditEntry & { readonly actorEmail?: string | undefined };

/** The filters of a list of entries. */
export interface AuditSelection {
  readonly workspaceId: string;
  readonly action?: string | undefined;
  readonly actorId?: string | undefined;
  /** The first time. */
  readonly from?: Date | undefined;
  /** The end of the range, exclusive. */
  readonly to?: Date | undefined;
}

/** A position in a list. */
export type AuditPosition = Pick<AuditEntry, 'at' | 'id'>;

/** The store of the audit log. */
export interface AuditStore {
  /** Returns the workspaces of a user, by id or email address. */
  findWorkspaces(user: { userId: string } | { email: string }): Promise<string[]>;
  append(entries: readonly AuditEntry[]): Promise<void>;
  /** Lists entries, newest first. @param after the position before the first entry. */
  list(selection: AuditSelection, limit: number, after?: AuditPosition): Promise<ListedAuditEntry[]>;
}

/** Records an action. It never throws: a failed write must not undo the action, so it is only logged. */
export type RecordAction = (origin: AuditOrigin, action: AuditedAction) => Promise<void>;

/** The longest user agent and the longest detail, in characters. The 20 networks of an API key fit into a detail. */
const maxLength = { userAgent: 255, detail: 1_000 } as const;
const cut = (text: string, length: number) => text.slice(0, length).toWellFormed();

/**
 * Returns the function that all parts of the service call to record an action in the audit log. Await it after the action
 * has succeeded.
 *
 * @param onError called with the entries that could not be written.
 */
export function createRecordAction(
  store: AuditStore,
  onError: (error: unknown, lost: { action: string; targetId?: string | undefined }) => void,
): RecordAction {
  return async (origin, { action, scope, targetId, details = {} }) => {
    try {
      const workspaceIds = 'workspaceId' in scope ? [scope.workspaceId] : await store.findWorkspaces(scope);
      const given = Object.entries(details).filter(([, value]) => value !== undefined);
      const at = new Date();
      const entryOf = (workspaceId: string): AuditEntry => ({
        id: newId(),
        workspaceId,
        at,
        action,
        source: origin.source,
        actorId: origin.actorId,
        apiKeyId: origin.apiKeyId,
        address: origin.address === '' ? undefined : origin.address,
        userAgent: origin.userAgent === undefined ? undefined : cut(origin.userAgent, maxLength.userAgent),
        targetId,
        details: Object.fromEntries(
          given.map(([name, value]) => [
            name,
            typeof value === 'string' ? cut(value, maxLength.detail) : value,
          ]),
        ),
      });
      await store.append(workspaceIds.map((workspaceId) => entryOf(workspaceId)));
    } catch (error) {
      onError(error, { action, targetId });
    }
  };
}
