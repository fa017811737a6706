import type { LandingPageView } from '@leads/core/campaign';
import { Button, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { useState } from 'react';
import { meQuery } from '../../api/account.ts';
import { dismissLandingPage, landingPagesQuery, mapLandingPage } from '../../api/campaigns.ts';
import { attentionQuery, campaignFiguresQuery } from '../../api/overview.ts';
import { useCommands } from '../../shell/commands.ts';
import { ConfirmDialog } from '../../shell/confirm-dialog.tsx';
import { EmptyState } from '../../shell/empty-state.tsx';
import { IconPlus, IconSearch } from '../../shell/icons.tsx';
import { lazyDialog } from '../../shell/lazy-dialog.tsx';
import { PageHeading } from '../../shell/page-heading.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { CampaignsTable } from './campaigns-table.tsx';
import { LandingPages, type LandingPageChange } from './landing-pages.tsx';

const t = texts.campaigns;

const NewCampaignDialog = lazyDialog(
  async () => (await import('./new-campaign-dialog.tsx')).NewCampaignDialog,
);

export function CampaignsPage() {
  const queryClient = useQueryClient();
  const { workspace } = useSuspenseQuery(meQuery).data;
  const isManaging = workspace !== undefined && workspace.role !== 'publisher';
  const { data: campaigns, error, refetch } = useQuery(campaignFiguresQuery);
  const mapped = useInfiniteQuery(landingPagesQuery('mapped'));
  const [showsArchived, { toggle }] = useDisclosure(false);
  const [creating, { open, close }] = useDisclosure(false);
  useCommands(isManaging ? [{ label: t.create, run: open }] : []);
  const [search, setSearch] = useState('');
  const change = useMutation({
    mutationFn: (landingPage: LandingPageChange) =>
      'dismissed' in landingPage
        ? dismissLandingPage(landingPage.id, landingPage.dismissed)
        : mapLandingPage(landingPage.id, landingPage.campaignCode),
    onSettled: () =>
      Promise.all(
        [['landing-pages'], campaignFiguresQuery.queryKey, attentionQuery.queryKey].map((queryKey) =>
          queryClient.invalidateQueries({ queryKey }),
        ),
      ),
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
  const shown = campaigns.filter(
    ({ status, name, code }) =>
      (showsArchived || status !== 'archived') &&
      [name, code].some((text) => text.toLowerCase().includes(search.trim().toLowerCase())),
  );
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
      <Stack gap="xl">
        <Stack component="section" gap="xs" miw={0} aria-label={t.title}>
          {change.isError && <ErrorNotice error={change.error} />}
          {campaigns.length > 1 && (
            <TextInput
              type="search"
              aria-label={t.search}
              placeholder={t.search}
              leftSection={<IconSearch size={16} aria-hidden />}
              maw={360}
              value={search}
              onChange={({ currentTarget }) => setSearch(currentTarget.value)}
            />
          )}
          {shown.length === 0 ? (
            <EmptyState text={search.trim() === '' ? t.allArchived : t.noneFound}>
              {search.trim() === '' ? (
                <Button variant="default" onClick={toggle}>
                  {t.showArchived(archived)}
                </Button>
              ) : (
                <Button variant="default" onClick={() => setSearch('')}>
                  {t.clearSearch}
                </Button>
              )}
            </EmptyState>
          ) : (
            <CampaignsTable
              campaigns={shown}
              landingPages={pages}
              isComplete={mapped.data !== undefined && !mapped.hasNextPage}
              isManaging={isManaging}
              onDropPage={(id, { code }) => changePage({ id, campaignCode: code })}
            />
          )}
        </Stack>
        <LandingPages campaigns={campaigns} isManaging={isManaging} onChange={changePage} />
      </Stack>
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
