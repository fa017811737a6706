import { type Principal, requirePermission } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { newId } from '../uuid.ts';
import type { WorkspaceStore } from '../workspace/workspace-store.ts';
import { type ChangeResult, changeEach } from './change-each.ts';
import type { LeadAssignment } from './lead.schema.ts';
import type { LeadStore } from './lead-store.ts';

type Assignment = Omit<LeadAssignment, 'ids'>;

/**
 * Sets the assignee and the call-back of many leads, as {@link changeEach} does. A lead that has them already keeps its
 * version.
 *
 * @param changeId the id by which the changes can be undone together. Default: a new one.
 * @returns one result for each lead, and the `changeId` unless all leads had the values already.
 * @throws LeadsError `forbidden` for a publisher; `invalid_input` as {@link requireAssignable} and {@link assignmentOf}.
 */
export async function assignLeads(
  { leads, workspaces }: { leads: LeadStore; workspaces: Pick<WorkspaceStore, 'hasManager'> },
  principal: Principal,
  { ids, ...assignment }: LeadAssignment,
  changeId = newId(),
): Promise<{ readonly changeId?: string; readonly results: ChangeResult[] }> {
  requirePermission(principal, 'assignLeads');
  await requireAssignable(workspaces, principal, assignment);
  const values = assignmentOf(assignment);
  const changing = new Set<string>();
  const results = await changeEach(leads, principal, ids, (lead) => {
    const changed = (['assigneeId', 'callbackAt'] as const).filter(
      (field) => field in values && values[field] !== lead[field],
    );
    if (changed.length === 0) return undefined;
    changing.add(lead.id);
    return {
      values,
      bulkId: changeId,
      fields: Object.fromEntries(changed.map((field) => [field, { from: lead[field], to: values[field] }])),
    };
  });
  return { ...(changing.size > 0 && { changeId }), results };
}

/** Checks an assignee. @throws LeadsError `invalid_input` for a user without the role owner or manager in the workspace. */
export async function requireAssignable(
  workspaces: Pick<WorkspaceStore, 'hasManager'>,
  { workspaceId }: Pick<Principal, 'workspaceId'>,
  { assigneeId = '' }: Assignment,
): Promise<void> {
  if (assigneeId === '' || (await workspaces.hasManager(workspaceId, assigneeId.toLowerCase()))) return;
  throw refused('/assigneeId', 'must be an owner or manager of the workspace');
}

/**
 * Returns the given values of a change; `undefined` for those that it removes.
 *
 * @throws LeadsError `invalid_input` for a time that is not valid.
 */
export function assignmentOf({ assigneeId, callbackAt }: Assignment): {
  assigneeId?: string | undefined;
  callbackAt?: string | undefined;
} {
  return {
    ...(assigneeId !== undefined && { assigneeId: assigneeId === '' ? undefined : assigneeId.toLowerCase() }),
    ...(callbackAt !== undefined && { callbackAt: callbackAt === '' ? undefined : toTime(callbackAt) }),
  };
}

/** Returns a time in UTC. A leap second is valid by its format, but `Date` cannot represent it. */
function toTime(text: string): string {
  const time = new Date(text);
  const year = time.getUTCFullYear();
  if (year >= 1970 && year <= 9999) return time.toISOString();
  throw refused('/callbackAt', 'must be a valid time of the years 1970 to 9999, without a leap second');
}

function refused(path: string, reason: string): LeadsError {
  return new LeadsError('invalid_input', { fields: [{ at: 'body', path, reason }] });
}
