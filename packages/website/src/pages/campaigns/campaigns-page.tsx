import type { LandingPageView } from '@leads/core/campaign';
import { Button, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ComponentProps, useState } from 'react';
import { dismissLandingPage, landingPagesQuery, mapLandingPage } from '../../api/campaigns.ts';
import { membersQuery } from '../../api/members.ts';
import {
  campaignFiguresOfQuery,
  campaignFiguresQuery,
  publishersByCampaignQuery,
  refreshLandingPages,
} from '../../api/overview.ts';
import { useCommands } from '../../shell/commands.ts';
import { EmptyState } from '../../shell/empty-state.tsx';
import { IconPlus, IconSearch } from '../../shell/icons.tsx';
import { LazyConfirmDialog } from '../../shell/lazy-confirm-dialog.tsx';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import { memberOptions } from '../../shell/member-options.ts';
import { PageHeading } from '../../shell/page-heading.tsx';
import { ErrorNotice, PendingPage, QueryState } from '../../shell/states.tsx';
import { useHasBeen } from '../../shell/use-has-been.ts';
import { useMay } from '../../shell/use-may.ts';
import * as texts from '../../texts/index.ts';
import { CampaignsTable } from './campaigns-table.tsx';
import { LandingPages, type LandingPageChange } from './landing-pages.tsx';

const t = texts.campaigns;

const NewCampaignDialog = lazyDialog(
  async () => (await import('./new-campaign-dialog.tsx')).NewCampaignDialog,
);

const route = getRouteApi('/console/campaigns');

export function CampaignsPage() {
  const queryClient = useQueryClient();
  const isManaging = useMay('manageCampaigns');
  const figures = useQuery(campaignFiguresQuery);
  const { data: campaigns } = figures;
  const publishers = useQuery({ ...publishersByCampaignQuery, enabled: isManaging });
  const mapped = useInfiniteQuery(landingPagesQuery('mapped'));
  const hasAnswer = useHasBeen(!mapped.isPending);
  const [showsArchived, { toggle }] = useDisclosure(false);
  const [creating, { open, close }] = useDisclosure(false);
  useCommands(isManaging ? [{ label: t.create, run: open }] : []);
  const change = useMutation({
    mutationFn: (landingPage: LandingPageChange) =>
      'dismissed' in landingPage
        ? dismissLandingPage(landingPage.id, landingPage.dismissed)
        : mapLandingPage(landingPage.id, landingPage.campaignCode),
    onSettled: () => refreshLandingPages(queryClient),
  });

  /** A new campaign of a page that has one, until it is confirmed. An empty code means no campaign. */
  const [asked, setAsked] = useState<{ readonly page: LandingPageView; readonly campaignCode: string }>();
  const pages = mapped.data?.pages.flatMap(({ landingPages }) => landingPages);
  const changePage = (changed: LandingPageChange) => {
    // The page shows the state and the failure of one change.
    if (change.isPending) return;
    const page = pages?.find(({ id }) => id === changed.id);
    if (page?.campaignCode === undefined || 'dismissed' in changed) change.mutate(changed);
    else if (page.campaignCode !== changed.campaignCode)
      setAsked({ page, campaignCode: changed.campaignCode });
  };

  const archived = campaigns?.filter(({ status }) => status === 'archived').length ?? 0;
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
      {campaigns === undefined ? (
        <QueryState query={figures} />
      ) : !hasAnswer ? (
        // The names of the landing pages change the widths of the columns, so the table waits for them.
        <PendingPage />
      ) : (
        <Stack gap="xl">
          <Stack component="section" gap="xs" miw={0} aria-label={t.title}>
            {change.isError ? (
              <ErrorNotice error={change.error} onRetry={() => change.mutate(change.variables)} />
            ) : (
              <QueryState query={figures} />
            )}
            {publishers.isError && <QueryState query={publishers} />}
            <Campaigns
              campaigns={campaigns}
              publishers={publishers.data}
              archived={archived}
              showsArchived={showsArchived}
              onShowArchived={toggle}
              landingPages={pages}
              isComplete={mapped.data !== undefined && !mapped.hasNextPage}
              isManaging={isManaging}
              onDropPage={(id, { code }) => changePage({ id, campaignCode: code })}
            />
          </Stack>
          <LandingPages
            campaigns={campaigns}
            isManaging={isManaging}
            pending={change.isPending ? change.variables : undefined}
            onChange={changePage}
          />
        </Stack>
      )}
      {asked !== undefined && (
        <LazyConfirmDialog
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
        </LazyConfirmDialog>
      )}
      {creating && <NewCampaignDialog onClose={close} />}
    </>
  );
}

/** The campaigns with a search field and a filter by publisher. Archived ones are hidden until the user shows them. */
function Campaigns({
  campaigns,
  archived,
  showsArchived,
  onShowArchived,
  ...props
}: ComponentProps<typeof CampaignsTable> & {
  /** The number of archived campaigns. */
  archived: number;
  showsArchived: boolean;
  onShowArchived: () => void;
}) {
  const given = route.useSearch().user;
  const navigate = route.useNavigate();
  const [search, setSearch] = useState('');
  const hasFilters = campaigns.length > 1;
  const user = hasFilters && props.isManaging ? given : undefined;
  const setUser = (changed: string | undefined) =>
    void navigate({
      search: changed === undefined ? {} : { user: changed },
      replace: true,
      resetScroll: false,
    });
  const { data: members = [] } = useQuery({ ...membersQuery, enabled: props.isManaging });
  const ofUser = useQuery({ ...campaignFiguresOfQuery(user ?? ''), enabled: user !== undefined });
  const searched = search.trim().toLowerCase();
  const listed = user === undefined ? campaigns : (ofUser.data ?? []).filter(({ total }) => total > 0);
  const found = listed.filter(({ name, code }) =>
    [name, code].some((text) => text.toLowerCase().includes(searched)),
  );
  const shown = found.filter(({ status }) => showsArchived || status !== 'archived');
  return (
    <>
      {hasFilters && (
        <Group gap="xs">
          <TextInput
            type="search"
            aria-label={t.search}
            placeholder={t.search}
            leftSection={<IconSearch size={16} aria-hidden />}
            flex="1 1 200px"
            maw={360}
            value={search}
            onChange={({ currentTarget }) => setSearch(currentTarget.value)}
          />
          {props.isManaging && (
            <Select
              aria-label={t.publisher}
              placeholder={t.anyPublisher}
              searchable
              clearable
              flex="1 1 200px"
              maw={360}
              value={user ?? null}
              onChange={(value) => setUser(value ?? undefined)}
              data={memberOptions(members, user)}
            />
          )}
        </Group>
      )}
      {user !== undefined && <Text size="sm">{t.ofPublisher}</Text>}
      {user !== undefined && ofUser.data === undefined ? (
        <QueryState query={ofUser} />
      ) : shown.length > 0 ? (
        <CampaignsTable campaigns={shown} {...props} />
      ) : found.length > 0 ? (
        <EmptyState text={t.foundArchived(found.length)}>
          <Button variant="default" onClick={onShowArchived}>
            {t.showArchived(archived)}
          </Button>
        </EmptyState>
      ) : user !== undefined ? (
        <EmptyState text={listed.length === 0 ? t.noneOfPublisher : t.noneFoundOfPublisher}>
          <Button
            variant="default"
            onClick={() => {
              setSearch('');
              setUser(undefined);
            }}
          >
            {t.clearFilters}
          </Button>
        </EmptyState>
      ) : (
        <EmptyState text={t.noneFound}>
          <Button variant="default" onClick={() => setSearch('')}>
            {t.clearSearch}
          </Button>
        </EmptyState>
      )}
    </>
  );
}
