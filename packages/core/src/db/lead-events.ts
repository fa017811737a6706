import type { LeadEvent } from '../event/lead-event.schema.ts';
import { toLeadEvent } from '../event/lead-event.ts';
import type { LeadChange } from '../lead/lead-store.ts';
import { Prisma } from './generated/client.ts';
import { leadsById } from './lead-rows.ts';
import { withoutNulls } from './without-nulls.ts';

type Row = Record<string, unknown>;

/** Returns the rows of changes that the events of some versions need, as a table for a query. */
export function changesOfEvents(
  events: readonly { readonly leadId: string; readonly version: number }[],
): Prisma.Sql {
  const ids = events.map(({ leadId }) => leadId);
  const versions = events.map(({ version }) => version);
  return Prisma.sql`changes_of_events(${ids}::uuid[], ${versions}::int[])`;
}

/**
 * Returns a function that builds the event of one version of a lead. It returns `undefined` if the lead is not among the
 * rows, or does not have that version.
 *
 * @param leads rows with every column of a lead.
 * @param changes rows of {@link changesOfEvents} with every column of a change and `leadId`.
 */
export function eventsFrom(
  leads: readonly Row[],
  changes: readonly Row[],
): (leadId: string, version: number) => LeadEvent | undefined {
  const leadById = leadsById(leads);
  const changesByLead = new Map<string, LeadChange[]>();
  for (const row of changes) {
    const { leadId, ...change } = withoutNulls(row);
    const ofLead = changesByLead.get(leadId as string) ?? [];
    ofLead.push(change as unknown as LeadChange);
    changesByLead.set(leadId as string, ofLead);
  }
  return (leadId, version) => {
    const lead = leadById.get(leadId);
    return lead && toLeadEvent(lead, changesByLead.get(leadId) ?? [], version);
  };
}
