import type { Principal } from '../credential/principal.ts';
import { may } from '../credential/roles.ts';
import { internalFields, type LeadDetail, type LeadHistoryEntry } from './lead.schema.ts';

/** The visible leads: those of a workspace, or only those of one of its users. */
export interface LeadScope {
  readonly workspaceId: string;
  readonly userId?: string | undefined;
}

/** The part of a principal that decides which leads are visible. */
export type Viewer = Pick<Principal, 'workspaceId' | 'userId' | 'role'>;

/** Returns the visible leads: owners and managers see all leads of their workspace, publishers only their own. */
export function visibleTo(principal: Viewer): LeadScope {
  return may(principal.role, 'readAllLeads')
    ? { workspaceId: principal.workspaceId }
    : { workspaceId: principal.workspaceId, userId: principal.userId };
}

/** Whether a viewer sees notes, assignees and call-backs: owners and managers do. */
export function seesInternals({ role }: Pick<Viewer, 'role'>): boolean {
  return may(role, 'readInternals');
}

/** Returns a lead without the fields that a viewer does not see. */
export function shownLead(lead: LeadDetail, viewer: Pick<Viewer, 'role'>): LeadDetail {
  return seesInternals(viewer) ? lead : withoutInternals(lead);
}

/** Returns a change without the fields that a viewer does not see; undefined if nothing of it remains. */
export function shownChange(
  change: LeadHistoryEntry,
  viewer: Pick<Viewer, 'role'>,
): LeadHistoryEntry | undefined {
  if (seesInternals(viewer)) return change;
  if (change.type === 'note_added') return undefined;
  if (change.fields === undefined) return change;
  const { fields, ...others } = change;
  const shown = withoutInternals(fields);
  if (Object.keys(shown).length > 0) return { ...others, fields: shown };
  return change.type === 'updated' ? undefined : others;
}

function withoutInternals<Fields extends object>(fields: Fields): Fields {
  const internal: readonly string[] = internalFields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !internal.includes(name))) as Fields;
}
