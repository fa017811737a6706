import type { LeadHistoryEntry } from '../lead/lead.schema.ts';
import { type FoundLead, toLeadDetail } from '../lead/lead.ts';
import { shownChange, shownLead, type Viewer } from '../lead/lead-scope.ts';
import { creationOf, toHistoryEntry } from '../lead/lead-history.ts';
import type { LeadChange } from '../lead/lead-store.ts';
import { parsePhone } from '../lead/phone.ts';
import { type LeadEvent, type LeadEventType, typeOfChange } from './lead-event.schema.ts';

/** Returns the NATS subject of events of a workspace; with `*`, a wildcard subject for all types. */
export function eventSubject(workspaceId: string, type: LeadEventType | '*' = '*'): string {
  return `leads.${workspaceId}.${type === '*' ? '>' : type}`;
}

/**
 * Returns the event of one version of a lead.
 *
 * @param lead the current lead.
 * @param changes the changes of the lead from that version on. Later changes may be merged.
 * @returns `undefined` if the lead does not have that version.
 */
export function toLeadEvent(
  lead: FoundLead,
  changes: readonly LeadChange[],
  version: number,
): LeadEvent | undefined {
  // The time of the approval is no part of a version, because the campaign's setting can change it.
  const then = { ...leadAt(lead, changes, version), approveAt: undefined };
  const change = version === 1 ? creationOf(then) : entryOf(changes, version);
  if (change === undefined) return undefined;
  return {
    specversion: '1.0',
    id: `${lead.id}.${version}`,
    source: `/workspaces/${lead.workspaceId}`,
    type: typeOfChange(change),
    subject: lead.id,
    time: change.createdAt,
    datacontenttype: 'application/json',
    data: { lead: toLeadDetail(then), change },
  };
}

function entryOf(changes: readonly LeadChange[], version: number): LeadHistoryEntry | undefined {
  const change = changes.find((one) => one.version === version);
  return change && toHistoryEntry(change);
}

/** Returns a lead in an earlier version, by reverting the later changes. */
function leadAt(lead: FoundLead, changes: readonly LeadChange[], version: number): FoundLead {
  if (lead.version === version) return lead;
  const later = changes
    .filter((change) => change.version > version)
    .toSorted((a, b) => b.version - a.version);
  const earlier: Record<string, unknown> = { ...lead, version };
  for (const { status, fields = {} } of later) {
    if (status !== undefined) earlier['status'] = status.from;
    for (const [field, { from }] of Object.entries(fields)) {
      earlier[field] = field === 'extra' && from !== undefined ? JSON.stringify(from) : from;
    }
  }
  const then = earlier as unknown as FoundLead;
  const changedAt = changes.find((change) => change.version === version)?.createdAt ?? lead.createdAt;
  return { ...then, phoneE164: parsePhone(then.phone, then.country)?.e164, updatedAt: changedAt };
}

/** Returns an event without the fields that a viewer does not see; undefined if nothing of its change remains. */
export function shownEvent(event: LeadEvent, viewer: Pick<Viewer, 'role'>): LeadEvent | undefined {
  const change = shownChange(event.data.change, viewer);
  return change && { ...event, data: { ...event.data, lead: shownLead(event.data.lead, viewer), change } };
}
