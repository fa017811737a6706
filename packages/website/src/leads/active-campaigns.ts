import { useQuery } from '@tanstack/react-query';
import { campaignsQuery } from '../api/campaigns.ts';
import * as texts from '../texts/index.ts';

const t = texts.leads;

/** Returns the campaigns that accept leads, the code of the preferred one, and the text of a select without options. */
export function useActiveCampaigns() {
  const { data: campaigns, error } = useQuery(campaignsQuery);
  const active = campaigns?.filter(({ status }) => status === 'active') ?? [];
  const preferred = (active.find(({ isDefault }) => isDefault) ?? active[0])?.code;
  const notLoaded = error === null ? texts.common.loading : t.campaignsNotLoaded;
  const notFound = active.length === 0 ? t.noCampaigns : t.noCampaignFound;
  return { active, preferred, emptyText: campaigns === undefined ? notLoaded : notFound };
}
