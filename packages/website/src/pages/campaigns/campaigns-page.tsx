import type { LandingPageView } from '@leads/core/campaign';
import { Button, SimpleGrid, Stack, Switch, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import {
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { useState } from 'react';
import { meQuery } from '../../api/account.ts';
import {
  campaignsQuery,
  dismissLandingPage,
  landingPagesQuery,
  mapLandingPage,
} from '../../api/campaigns.ts';
import { ConfirmDialog } from '../../shell/confirm-dialog.tsx';
import { lazyDialog } from '../../shell/lazy-dialog.tsx';
import { PageHeading } from '../../shell/page-heading.tsx';
import { RecordList } from '../../shell/record-row.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import { texts } from '../../texts/index.ts';
import { CampaignRow } from './campaign-row.tsx';
import { LandingPages, type LandingPageChange } from './landing-pages.tsx';

const t = texts.campaigns;

const NewCampaignDialog = lazyDialog(async () => (await import('./campaign-dialogs.tsx')).NewCampaignDialog);

export function CampaignsPage() {
  const queryClient = useQueryClient();
  const { workspace } = useSuspenseQuery(meQuery).data;
  const isManaging = workspace !== undefined && workspace.role !== 'publisher';
  const { data: campaigns, error, refetch } = useQuery(campaignsQuery);
  const mapped = useInfiniteQuery(landingPagesQuery('mapped'));
  const [showsArchived, { toggle }] = useDisclosure(false);
  const [creating, { open, close }] = useDisclosure(false);
  const change = useMutation({
    mutationFn: (landingPage: LandingPageChange) =>
      'dismissed' in landingPage
        ? dismissLandingPage(landingPage.id, landingPage.dismissed)
        : mapLandingPage(landingPage.id, landingPage.campaignCode),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['landing-pages'] }),
  });

  /** A new campaign of a page that has one, until it is confirmed. An empty code means no campaign. */
  const [asked, setAsked] = useState<{ readonly page: LandingPageView; readonly campaignCode: string }>();
  const pages = mapped.data?.pages.flatMap(({ landingPages }) => landingPages);
  const changePage = (changed: LandingPageChange) => {
    const page = pages?.find(({ id }) => id === changed.id);
    if (page?.campaignCode === undefined || 'dismissed' in changed) change.mutate(changed);
    else if (page.campaignCode !== changed.campaignCode)
      setAsked({ page, campaignCode: changed.campaignCode });
  };

  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (campaigns === undefined) return <PendingPage />;
  const archived = campaigns.filter(({ status }) => status === 'archived').length;
  const shown = campaigns.filter(({ status }) => showsArchived || status !== 'archived');
  return (
    <>
      <PageHeading title={t.title}>
        {archived > 0 && (
          <Switch label={t.showArchived(archived)} checked={showsArchived} onChange={toggle} />
        )}
        {isManaging && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
            {t.create}
          </Button>
        )}
      </PageHeading>
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
        <Stack gap="xs" miw={0}>
          {change.isError && <ErrorNotice error={change.error} />}
          <RecordList label={t.title}>
            {shown.map((campaign) => (
              <CampaignRow
                key={campaign.id}
                campaign={campaign}
                landingPages={pages?.filter(({ campaignId }) => campaignId === campaign.id)}
                isComplete={mapped.data !== undefined && !mapped.hasNextPage}
                isManaging={isManaging}
                onDropPage={(id) => changePage({ id, campaignCode: campaign.code })}
              />
            ))}
          </RecordList>
        </Stack>
        <LandingPages campaigns={campaigns} isManaging={isManaging} onChange={changePage} />
      </SimpleGrid>
      {asked !== undefined && (
        <ConfirmDialog
          title={t.remapTitle(asked.page.name)}
          action={t.remap}
          color="petrol"
          onConfirm={() => change.mutateAsync({ id: asked.page.id, campaignCode: asked.campaignCode })}
          onClose={() => setAsked(undefined)}
        >
          <Text size="sm">
            {asked.campaignCode === ''
              ? t.unmapLead(asked.page.campaignCode ?? '')
              : t.remapLead(asked.page.campaignCode ?? '', asked.campaignCode)}
          </Text>
        </ConfirmDialog>
      )}
      {creating && <NewCampaignDialog onClose={close} />}
    </>
  );
}
