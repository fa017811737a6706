import type { CampaignFigures } from '@leads/core/overview';
import { Code, Group, List, Paper, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { landingPagesOfQuery } from '../../api/campaigns.ts';
import { type Endpoint, postbacksQuery, webhooksQuery } from '../../api/endpoints.ts';
import { campaignFiguresQuery, campaignPublishersQuery } from '../../api/overview.ts';
import { LeadsLink } from '../../leads/leads-link.tsx';
import { AnchorLink, ButtonLink } from '../../shell/links.tsx';
import { formatMoney } from '../../shell/money.ts';
import { PageHeading } from '../../shell/page-heading.tsx';
import { RelativeTime } from '../../shell/relative-time.tsx';
import { QueryState } from '../../shell/states.tsx';
import { NextPageButton } from '../../shell/next-page-button.tsx';
import * as texts from '../../texts/index.ts';
import { Breakdown } from '../../shell/breakdown.tsx';
import { formatRate } from '../../shell/numbers.ts';
import { CampaignActions } from './campaign-actions.tsx';
import { CampaignState, CampaignWarnings } from './campaign-state.tsx';
import { lastWeekOf } from './campaigns-table.tsx';
import { Sparkline } from './sparkline.tsx';
import { writeHoldTime, writeWindow } from './write-window.ts';
import { lazySection } from '../../shell/lazy-part.tsx';
import { useMay } from '../../shell/use-may.ts';

const t = texts.campaigns;
// The form's library is not needed to show the figures.
const CampaignSettings = lazySection(async () => (await import('./campaign-settings.tsx')).CampaignSettings);
const PublisherPayouts = lazySection(async () => (await import('./publisher-payouts.tsx')).PublisherPayouts);
const route = getRouteApi('/console/campaigns/$id');

/** One campaign: its figures, landing pages, integrations, publishers, settings and payouts. */
export function CampaignPage() {
  const { id } = route.useParams();
  const isManaging = useMay('manageCampaigns');
  const figures = useQuery(campaignFiguresQuery);
  const { data: campaigns } = figures;
  if (campaigns === undefined) return <QueryState query={figures} />;
  const campaign = campaigns.find((each) => each.id === id);
  if (campaign === undefined) {
    return (
      <>
        <PageHeading title={t.noCampaignFound} />
        <ButtonLink to="/campaigns" variant="default">
          {t.allCampaigns}
        </ButtonLink>
      </>
    );
  }
  return (
    <Stack gap="md">
      <div>
        <AnchorLink to="/campaigns" size="sm">
          {t.allCampaigns}
        </AnchorLink>
        <PageHeading title={campaign.name}>
          {isManaging && <CampaignActions campaign={campaign} />}
        </PageHeading>
        <Group gap="xs">
          <Code>{campaign.code}</Code>
          <CampaignState campaign={campaign} />
          <CampaignWarnings campaign={campaign} />
        </Group>
      </div>
      <QueryState query={figures} />
      <Figures campaign={campaign} />
      <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
        <CampaignLandingPages code={campaign.code} isManaging={isManaging} />
        {isManaging && <Publishers campaign={campaign} />}
        <Stack>
          <Integrations code={campaign.code} isManaging={isManaging} />
          {isManaging && <PublisherPayouts key={campaign.id} campaign={campaign} />}
        </Stack>
        {isManaging && <CampaignSettings key={campaign.id} campaign={campaign} />}
      </SimpleGrid>
    </Stack>
  );
}

function Figures({ campaign }: { campaign: CampaignFigures }) {
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      texts.common.leads,
      <LeadsLink key="leads" size="lg" filters={{ campaignCode: campaign.code }}>
        {campaign.total.toLocaleString('en')}
      </LeadsLink>,
    ],
    [t.lastWeek, lastWeekOf(campaign).toLocaleString('en')],
    [t.approveRate, formatRate(campaign.approveRate)],
    [t.lastLead, <RelativeTime key="last" at={campaign.lastLeadAt} />],
    [t.twoWeeks, <Sparkline key="days" days={campaign.days} />],
    [t.duplicates, writeWindow(campaign.duplicateWindowSeconds)],
    [t.payout, campaign.payout === undefined ? t.noPayout : formatMoney(campaign.payout)],
    [t.holdTime, writeHoldTime(campaign.approveAfterSeconds)],
  ];
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
      {facts.map(([label, value]) => (
        <Paper key={label} withBorder p="sm" component="dl" m={0}>
          <Text component="dt" size="xs" c="dimmed">
            {label}
          </Text>
          <Text component="dd" m={0} fz="lg" fw={600} style={{ fontVariantNumeric: 'tabular-nums' }}>
            {value}
          </Text>
        </Paper>
      ))}
    </SimpleGrid>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper component="section" withBorder p="md" aria-label={title} miw={0}>
      <Title order={2} size="h4" mb="xs">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

function CampaignLandingPages({ code, isManaging }: { code: string; isManaging: boolean }) {
  const query = useInfiniteQuery(landingPagesOfQuery(code));
  const pages = query.data?.pages.flatMap(({ landingPages }) => landingPages);
  return (
    <Section title={t.landingPages}>
      <QueryState query={query} />
      {pages?.length === 0 && <Text size="sm">{isManaging ? t.noPagesOf : t.noOwnPagesOf}</Text>}
      {pages !== undefined && pages.length > 0 && (
        <Table fz="sm">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">{t.landingPage}</Table.Th>
              <Table.Th scope="col" ta="right">
                {texts.common.leads}
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {pages.map(({ id, name, leads }) => (
              <Table.Tr key={id}>
                <Table.Th scope="row" fw={400}>
                  <LeadsLink filters={{ lpName: name }}>{name}</LeadsLink>
                </Table.Th>
                <Table.Td ta="right">{leads.toLocaleString('en')}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <NextPageButton query={query} label={t.loadMore} mt="xs" />
      {isManaging && (
        <AnchorLink to="/campaigns" hash="landing-pages" size="sm" mt="xs" display="inline-block">
          {t.mapPages}
        </AnchorLink>
      )}
    </Section>
  );
}

function Publishers({ campaign: { id, code } }: { campaign: CampaignFigures }) {
  const query = useQuery(campaignPublishersQuery(id));
  const { data } = query;
  if (data === undefined) {
    return (
      <Section title={t.publishers}>
        <QueryState query={query} />
      </Section>
    );
  }
  return (
    <Stack gap="xs" miw={0}>
      <QueryState query={query} />
      <Breakdown
        title={t.publishers}
        column={t.publisher}
        note={t.publishersLead}
        rows={data.publishers.map(({ value, name, ...counts }) =>
          Object.assign(counts, {
            key: value,
            label: name,
            filters: { user: value, campaignCode: code, createdFrom: data.from },
          }),
        )}
        of={data.publishers.reduce((sum, { total }) => sum + total, 0)}
      />
    </Stack>
  );
}

function Integrations({ code, isManaging }: { code: string; isManaging: boolean }) {
  const webhooks = useQuery({ ...webhooksQuery, enabled: isManaging });
  const postbacks = useQuery(postbacksQuery);
  const listed = [
    ...(webhooks.data ?? []).map((endpoint) => ({
      kind: 'webhook' as const,
      endpoint,
      isLimited: endpoint.campaignCodes.length > 0,
      isOfCampaign: endpoint.campaignCodes.includes(code),
    })),
    ...(postbacks.data ?? []).map((endpoint) => ({
      kind: 'postback' as const,
      endpoint,
      isLimited: endpoint.campaignCode !== undefined,
      isOfCampaign: endpoint.campaignCode === code,
    })),
  ];
  const own = listed.filter(({ isOfCampaign }) => isOfCampaign);
  const ofAll = listed.filter(({ isLimited }) => !isLimited).length;
  const nameOf = ({ url, description }: Endpoint) => description ?? url;
  const queries = isManaging ? [webhooks, postbacks] : [postbacks];
  const isComplete = queries.every(({ data }) => data !== undefined);
  const failed = queries.find(({ error }) => error !== null);
  return (
    <Section title={t.integrations}>
      <Stack gap="xs">
        {failed !== undefined && <QueryState query={failed} />}
        {own.length > 0 ? (
          <List size="sm" spacing={4}>
            {own.map(({ kind, endpoint }) => (
              <List.Item key={endpoint.id}>
                <AnchorLink
                  to={kind === 'webhook' ? '/webhooks/$id' : '/postbacks/$id'}
                  params={{ id: endpoint.id }}
                  size="sm"
                  style={{ overflowWrap: 'anywhere' }}
                >
                  {texts.common.endpointName[kind](nameOf(endpoint))}
                </AnchorLink>
              </List.Item>
            ))}
          </List>
        ) : (
          isComplete && <Text size="sm">{isManaging ? t.noIntegrations : t.noOwnPostbacks}</Text>
        )}
        {isComplete && ofAll > 0 && (
          <Text size="sm" c="dimmed">
            {t.integrationsOfAll(ofAll)}
          </Text>
        )}
        <AnchorLink to="/integrations" size="sm">
          {t.manageIntegrations}
        </AnchorLink>
      </Stack>
    </Section>
  );
}
