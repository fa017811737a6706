import type { ListedViewer } from '@leads/core/lead';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { campaignsQuery } from '../../api/campaigns.ts';
import { listedViewersQuery } from '../../api/lead-work.ts';
import { membersQuery } from '../../api/members.ts';
import { campaignLabel } from '../../shell/campaign-option.ts';
import type { Columns } from './columns.ts';
import { useMay } from '../../shell/use-may.ts';

/** Returns the names in the rows of the list: campaigns and users by their ids, viewers by the id of the lead. */
export function useListedNames({ names: columns }: Columns) {
  const { data: campaigns } = useQuery(campaignsQuery);
  const campaignNames = useMemo(
    () => new Map(campaigns?.map((campaign) => [campaign.id, campaignLabel(campaign)])),
    [campaigns],
  );
  const { data: members } = useQuery({
    ...membersQuery,
    enabled: columns.includes('user') || columns.includes('assignee'),
  });
  const userNames = useMemo(() => new Map(members?.map(({ userId, name }) => [userId, name])), [members]);
  const { data: viewers } = useQuery({ ...listedViewersQuery, enabled: useMay('readInternals') });
  const viewerNames = useMemo(() => namesByLead(viewers ?? []), [viewers]);
  return { campaignNames, userNames, viewerNames };
}

/** Returns the names of the users who have a lead open, by the id of the lead. */
function namesByLead(viewers: readonly ListedViewer[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { leadId, name } of viewers) {
    const others = names.get(leadId);
    names.set(leadId, others === undefined ? name : `${others}, ${name}`);
  }
  return names;
}
