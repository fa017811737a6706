import { type Static, Type } from 'typebox';
import { dateTime, id, uuidListPattern } from '../fields.ts';
import { LeadPayout } from '../payout/payout.schema.ts';
import { toLeadDetail } from './lead.ts';
import type { LeadDetail } from './lead.schema.ts';
import { seesInternals, type Viewer, visibleTo } from './lead-scope.ts';
import type { LeadStore } from './lead-store.ts';

/** The maximum number of leads in one request. */
const maxIds = 100;

/** The leads whose payouts a page asks for. */
export const LeadPayoutQuery = Type.Object(
  {
    ids: Type.String({
      pattern: uuidListPattern(maxIds),
      'x-reason': `must be 1 to ${maxIds} identifiers of leads, separated by commas`,
      description: 'Identifiers of leads, separated by commas.',
    }),
  },
  { additionalProperties: false },
);

/** The payout of a listed lead, when it becomes Approved by its hold time, and when it is to be called back. */
export const ListedPayout = Type.Object(
  {
    id: id('Identifier of the lead.'),
    payout: Type.Optional(Type.Object(LeadPayout.properties, { additionalProperties: false })),
    approveAt: Type.Optional(dateTime('Time at which the lead becomes Approved.')),
    callbackAt: Type.Optional(
      dateTime('Time at which the lead is to be called back. Publishers do not see it.'),
    ),
  },
  { additionalProperties: false },
);
export type ListedPayout = Static<typeof ListedPayout>;

/** Returns the payouts of leads. Leads that the principal may not see are left out. */
export async function listLeadPayouts(
  leads: Pick<LeadStore, 'find'>,
  principal: Viewer,
  { ids }: Static<typeof LeadPayoutQuery>,
): Promise<ListedPayout[]> {
  const found = await leads.find(visibleTo(principal), ids.split(','));
  return found.map((lead) => toListedPayout(toLeadDetail(lead), seesInternals(principal)));
}

function toListedPayout(
  { id: leadId, payout, approveAt, callbackAt }: LeadDetail,
  isInternal: boolean,
): ListedPayout {
  return {
    id: leadId,
    ...(payout !== undefined && { payout }),
    ...(approveAt !== undefined && { approveAt }),
    ...(isInternal && callbackAt !== undefined && { callbackAt }),
  };
}
