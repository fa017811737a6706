import { type Static, Type } from 'typebox';
import { uuidListPattern } from '../fields.ts';
import { toLeadDetail } from './lead.ts';
import { LeadDetail } from './lead.schema.ts';
import { shownLead, type Viewer, visibleTo } from './lead-scope.ts';
import type { LeadStore } from './lead-store.ts';

/** The maximum number of leads in one request. */
const maxIds = 100;

/** The leads whose columns a page requests. */
export const LeadColumnQuery = Type.Object(
  {
    ids: Type.String({
      pattern: uuidListPattern(maxIds),
      'x-reason': `must be 1 to ${maxIds} identifiers of leads, separated by commas`,
      description: 'Identifiers of leads, separated by commas.',
    }),
  },
  { additionalProperties: false },
);

/** The columns of a listed lead that the Lead of the specification (2.2) omits, and its name for lists of ids. */
export const LeadColumnValues = Type.Pick(LeadDetail, [
  'id',
  'name',
  'payout',
  'approveAt',
  'assigneeId',
  'callbackAt',
  's1',
  'lpName',
  'source',
  'email',
  'city',
]);
export type LeadColumnValues = Static<typeof LeadColumnValues>;

const names = Object.keys(LeadColumnValues.properties) as readonly (keyof LeadColumnValues)[];

/**
 * Returns columns of leads. Leads that the principal may not see are left out. So are fields that it may not see.
 */
export async function listLeadColumns(
  leads: Pick<LeadStore, 'find'>,
  principal: Viewer,
  { ids }: Static<typeof LeadColumnQuery>,
): Promise<LeadColumnValues[]> {
  const found = await leads.find(visibleTo(principal), ids.split(','));
  return found.map((lead) => {
    const shown = shownLead(toLeadDetail(lead), principal);
    return Object.fromEntries(names.map((name) => [name, shown[name]])) as LeadColumnValues;
  });
}
