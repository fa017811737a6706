import type { LeadScope } from '../lead/lead-scope.ts';
import type { LeadFilter, LeadSelection } from '../lead/lead-store.ts';
import type { LeadSearch } from '../lead/search.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import type { FoundSelection } from './lead-selection.ts';

/** The minimum length of a text that finds campaigns, and the maximum number of campaigns. */
const minCampaignText = 3;
const maxSearchedCampaigns = 50;

/**
 * Creates the function that finds the campaigns of a selection: the one with its code, and those that its search finds. It
 * returns undefined if the workspace has no campaign with the code.
 */
export function createFindSelection({
  select,
}: Database): (selection: LeadSelection) => Promise<FoundSelection | undefined> {
  /** Returns the campaigns that a search finds. Shorter texts are the beginnings of too many words. */
  const searchCampaigns = async (
    { workspaceId }: LeadScope,
    search: LeadSearch,
  ): Promise<string[] | undefined> => {
    if (search.text.length < minCampaignText) return undefined;
    const campaigns = await select<{ id: string }>(Prisma.sql`
      SELECT id FROM campaign WHERE workspace_id = ${workspaceId}::uuid AND (
        starts_with(lower(code), lower(${search.text})) OR
        position(' ' || lower(${search.text}) IN ' ' || lower(name)) > 0
      ) ORDER BY code LIMIT ${maxSearchedCampaigns}`);
    return campaigns.length === 0 ? undefined : campaigns.map(({ id }) => id);
  };

  /** The campaigns that searches have found. An export reads thousands of pages by one search. */
  const searched = new WeakMap<LeadSearch, Promise<string[] | undefined>>();
  const campaignsOf = async (scope: LeadScope, { search }: LeadFilter) => {
    if (search === undefined) return undefined;
    const campaigns = searched.get(search) ?? searchCampaigns(scope, search);
    searched.set(search, campaigns);
    try {
      return await campaigns;
    } catch (error) {
      // With the same error for each later page, an export would stop the reads of all workspaces from a replica.
      searched.delete(search);
      throw error;
    }
  };

  return async ({ scope, filter, order }: LeadSelection) => {
    const { campaignCode, ...others } = filter;
    const selection = {
      scope,
      filter: { ...others, searchedCampaignIds: await campaignsOf(scope, filter) },
      order,
    };
    if (campaignCode === undefined) return selection;
    const [campaign] = await select<{ id: string }>(Prisma.sql`
      SELECT id FROM campaign WHERE workspace_id = ${scope.workspaceId}::uuid AND code = ${campaignCode}`);
    return campaign && { ...selection, filter: { ...selection.filter, campaignId: campaign.id } };
  };
}
