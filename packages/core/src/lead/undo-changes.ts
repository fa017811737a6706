import { type Principal, requirePermission } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { uuidPattern } from '../uuid.ts';
import type { WorkspaceStore } from '../workspace/workspace-store.ts';
import { type ChangeResult, changeEach, type Decision } from './change-each.ts';
import { holdEndedReason } from './hold-timers.ts';
import { idFrom } from './idempotency.ts';
import type { FoundLead } from './lead.ts';
import { idLimit } from './lead.schema.ts';
import { checkTransition, duplicateReason } from './lead-status.ts';
import type { BulkChange, LeadStore } from './lead-store.ts';
import { findTransitions, type LeadStatus } from './lead-transitions.ts';

/** The reason of a change back, if the status had none before. */
const undoneReason = 'Undone';

/** The stores that an undo needs. */
export interface UndoStores {
  readonly leads: Pick<LeadStore, 'find' | 'change' | 'bulkChanges'>;
  readonly workspaces: Pick<WorkspaceStore, 'hasManager'>;
}

/**
 * Changes leads back to their values before a job, or before an assignment of several leads. It changes only leads whose
 * newest change is that of the job. A repeated undo continues the first one: a lead that has its values back stays as it is.
 *
 * A status goes back by the usual transitions, if necessary by two. The lead gets the reason of the status before again.
 *
 * @param bulkId the id of the job or the assignment.
 * @param changes its changes, each of another lead.
 * @returns one result for each change. Errors are `conflict` for a lead that was changed since, that a payment includes, or
 *   whose previous assignee may have no leads any more; `forbidden` as for a status change of a single lead.
 */
export async function undoChanges(
  stores: UndoStores,
  principal: Principal,
  bulkId: string,
  changes: readonly BulkChange[],
): Promise<ChangeResult[]> {
  requirePermission(principal, 'undoChanges');
  const undoId = idFrom([bulkId, 'undo']);
  const results = new Map<string, ChangeResult>();
  const gone = await findGone(stores.workspaces, principal, changes);
  const byId = new Map(changes.map((change) => [change.id, change]));
  const versions = new Map(changes.map(({ id, version }) => [id, version]));
  for (const change of changes) {
    const message = obstacleOf(change, { bulkId, undoId, gone });
    if (message !== undefined) {
      results.set(change.id, { id: change.id, error: new LeadsError('conflict', { message }) });
    }
  }
  let open = changes.filter(({ id }) => !results.has(id));
  while (open.length > 0) {
    const unfinished = new Set<string>();
    const ids = open.map(({ id }) => id);
    const answers = await changeEach(stores.leads, principal, ids, (lead) => {
      const change = byId.get(lead.id);
      if (change === undefined || lead.version !== versions.get(lead.id)) {
        throw new LeadsError('conflict', { message: changedSince });
      }
      const decision =
        change.status === undefined ? fieldsBack(lead, change) : statusBack(lead, change, principal);
      if (decision?.status !== undefined && decision.status.to !== change.status?.from)
        unfinished.add(lead.id);
      return decision && { ...decision, bulkId: undoId };
    });
    for (const answer of answers) {
      results.set(answer.id, answer);
      if ('version' in answer) versions.set(answer.id, answer.version);
      else unfinished.delete(answer.id);
    }
    open = open.filter(({ id }) => unfinished.has(id));
  }
  return changes.flatMap(({ id }) => results.get(id) ?? []);
}

const changedSince = 'The lead was changed since';

/** Returns why a change cannot be undone; `undefined` if it can. */
function obstacleOf(
  { id, status, newestBulkId, isInPayment }: BulkChange,
  { bulkId, undoId, gone }: { bulkId: string; undoId: string; gone: ReadonlySet<string> },
): string | undefined {
  if (newestBulkId !== bulkId && newestBulkId !== undoId) return changedSince;
  if (status !== undefined && isInPayment) return 'The lead is in a payment';
  return gone.has(id) ? 'The previous assignee is no longer owner or manager' : undefined;
}

/** Returns the leads whose assignee before the change is no owner or manager of the workspace any more. */
async function findGone(
  workspaces: UndoStores['workspaces'],
  { workspaceId }: Principal,
  changes: readonly BulkChange[],
): Promise<ReadonlySet<string>> {
  const assignees = new Set(changes.flatMap((change) => assigneeBefore(change) ?? []));
  const gone = new Set<string>();
  for (const userId of assignees) if (!(await workspaces.hasManager(workspaceId, userId))) gone.add(userId);
  return new Set(changes.filter((change) => gone.has(assigneeBefore(change) ?? '')).map(({ id }) => id));
}

const assigneeBefore = ({ fields }: BulkChange) => fields?.['assigneeId']?.from as string | undefined;

/** Returns the change of an assignee and a call-back to their values before. */
function fieldsBack(lead: FoundLead, { fields = {} }: BulkChange): Decision | undefined {
  const changed = (['assigneeId', 'callbackAt'] as const).flatMap((name) => {
    const field = fields[name];
    return field === undefined || lead[name] === field.from
      ? []
      : [{ name, from: lead[name], to: field.from }];
  });
  if (changed.length === 0) return undefined;
  return {
    values: Object.fromEntries(changed.map(({ name, to }) => [name, to as string | undefined])),
    fields: Object.fromEntries(changed.map(({ name, from, to }) => [name, { from, to }])),
  };
}

/** Returns the next change of a status on its way back; `undefined` if the lead has the status before again. */
function statusBack(
  lead: FoundLead,
  { status, reasonBefore }: BulkChange,
  { role }: Principal,
): Decision | undefined {
  const target = status?.from ?? lead.status;
  const [to] = findTransitions(lead.status, target) ?? [];
  if (to === undefined) return undefined;
  const reason = to === target ? reasonOf(target, reasonBefore) : undoneReason;
  checkTransition(lead.status, to, { role, reason });
  return { values: { status: to }, status: { from: lead.status, to }, reason };
}

function reasonOf(status: LeadStatus, reasonBefore: string | undefined): string {
  // A new lead is trashed only as a duplicate. The end of a hold time is no reason of a user.
  const before = reasonBefore ?? (status === 'Trashed' ? duplicateReason : undefined);
  return before === undefined || before === holdEndedReason ? undoneReason : before;
}

/**
 * Undoes an assignment of several leads, as {@link undoChanges} does.
 *
 * @param changeId the id in the response to the assignment.
 * @throws LeadsError `forbidden` for a publisher; `not_found` if the workspace has no such assignment.
 */
export async function undoAssignment(
  stores: UndoStores,
  principal: Principal,
  changeId: string,
): Promise<ChangeResult[]> {
  requirePermission(principal, 'undoChanges');
  const { workspaceId } = principal;
  if (!uuidPattern.test(changeId)) throw new LeadsError('not_found');
  const read = () => stores.leads.bulkChanges({ workspaceId, bulkId: changeId }, { limit: idLimit });
  const changes = await read();
  // The changes of a job for statuses need another scope.
  if (changes.length === 0 || changes.some(({ status }) => status !== undefined))
    throw new LeadsError('not_found');
  const results = await undoChanges(stores, principal, changeId, changes);
  const refused = new Set(results.flatMap((result) => ('error' in result ? [result.id] : [])));
  if (refused.size === 0) return results;
  // A repeated request can change leads back after the read. Another read distinguishes them from leads that a user has changed.
  const again = (await read()).filter(({ id }) => refused.has(id));
  const repeated = new Map(
    (await undoChanges(stores, principal, changeId, again)).map((result) => [result.id, result]),
  );
  return results.map((result) => repeated.get(result.id) ?? result);
}
