import type { CampaignStatus, LandingPageView } from '@leads/core/campaign';
import type { CampaignFigures } from '@leads/core/overview';
import { Button, Code, Group, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { AnchorLink } from '../../shell/links.tsx';
import { RelativeTime } from '../../shell/relative-time.tsx';
import { SortableHeader, useSortedRows } from '../../shell/sortable-table.tsx';
import * as texts from '../../texts/index.ts';
import { formatRate } from '../overview/figures.ts';
import { CampaignActions } from './campaign-actions.tsx';
import { CampaignState, CampaignWarnings } from './campaign-state.tsx';
import { readDraggedPage } from './dragged-page.ts';
import { Sparkline } from './sparkline.tsx';

const t = texts.campaigns;

/** The number of landing pages named for a campaign. */
const named = 3;
/** The number of campaigns shown at first, and added by each "show more". */
const pageSize = 50;
/** The last days (UTC) that are counted together. */
const weekDays = 7;

type Column = 'name' | 'status' | 'total' | 'week' | 'approveRate' | 'lastLeadAt';

export const lastWeekOf = ({ days }: Pick<CampaignFigures, 'days'>) =>
  days.slice(-weekDays).reduce((sum, leads) => sum + leads, 0);

/** In the order of the sorted column. */
const statusOrder: Readonly<Record<CampaignStatus, number>> = { active: 0, paused: 1, archived: 2 };

function valueOf(campaign: CampaignFigures, column: Column) {
  if (column === 'week') return lastWeekOf(campaign);
  return column === 'status' ? statusOrder[campaign.status] : campaign[column];
}

interface CampaignsTableProps {
  readonly campaigns: readonly CampaignFigures[];
  /** The loaded landing pages that have a campaign. Absent while they load. */
  readonly landingPages: readonly LandingPageView[] | undefined;
  /** Whether all landing pages are loaded. */
  readonly isComplete: boolean;
  readonly isManaging: boolean;
  /** Called when a landing page is dropped on a campaign. */
  readonly onDropPage: (id: string, campaign: CampaignFigures) => void;
}

/** The campaigns with their figures, one row each. On a narrow screen, the first figures fit, and the table scrolls. */
export function CampaignsTable({ campaigns, ...props }: CampaignsTableProps) {
  const [limit, setLimit] = useState(pageSize);
  const { sorted, sort, sortBy } = useSortedRows<CampaignFigures, Column>(campaigns, valueOf, {
    by: 'week',
    isDescending: true,
  });
  const header = (by: Column, label: string, isText = false) => (
    <SortableHeader label={label} by={by} isText={isText} sort={sort} onSort={sortBy} />
  );
  return (
    <Stack gap="xs">
      <Table.ScrollContainer
        minWidth={1060}
        scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'group', 'aria-label': t.title } }}
      >
        <Table verticalSpacing={8} horizontalSpacing={10} fz="sm">
          <Table.Thead>
            <Table.Tr>
              {header('name', t.campaign, true)}
              {header('week', t.lastWeek)}
              {header('approveRate', t.approveRate)}
              {header('total', texts.common.leads)}
              {header('status', t.state, true)}
              {header('lastLeadAt', t.lastLead)}
              <Table.Th scope="col">{t.twoWeeks}</Table.Th>
              <Table.Th scope="col">{t.landingPagesOf}</Table.Th>
              {props.isManaging && <Table.Th scope="col">{t.actions}</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sorted.slice(0, limit).map((campaign) => (
              <CampaignRow key={campaign.id} campaign={campaign} {...props} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {sorted.length > limit && (
        <Button variant="default" onClick={() => setLimit(limit + pageSize)}>
          {t.moreCampaigns(sorted.length - limit)}
        </Button>
      )}
    </Stack>
  );
}

/** The width of a column on a phone, whose other columns take the rest of the table. */
const narrow = (width: number) => ({ base: width, sm: 'auto' });

function CampaignRow({
  campaign,
  landingPages,
  isComplete,
  isManaging,
  onDropPage,
}: Omit<CampaignsTableProps, 'campaigns'> & { campaign: CampaignFigures }) {
  const [isOver, setIsOver] = useState(false);
  const { id, code, name, status } = campaign;
  const takesPages = isManaging && status !== 'archived';
  const own = landingPages?.filter(({ campaignId }) => campaignId === id);
  const names = own?.slice(0, named).map((page) => page.name) ?? [];
  const rest = (campaign.landingPages ?? own?.length ?? 0) - names.length;
  const noNames = own === undefined ? texts.common.loading : isComplete ? t.none : t.notLoaded;
  const numbers = { ta: 'right', style: { fontVariantNumeric: 'tabular-nums' } } as const;
  return (
    <Table.Tr
      data-campaign={code}
      style={{ outline: isOver ? '2px solid var(--mantine-primary-color-filled)' : 'none' }}
      onDragOver={(event) => {
        if (!takesPages || readDraggedPage(event) === undefined) return;
        // By default, the browser rejects drops.
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={(event) => {
        setIsOver(false);
        const page = readDraggedPage(event);
        if (!takesPages || page === undefined) return;
        event.preventDefault();
        onDropPage(event.dataTransfer.getData(page), campaign);
      }}
    >
      <Table.Th
        scope="row"
        fw={400}
        w={narrow(120)}
        miw={{ base: 110, sm: 180 }}
        maw={{ base: 130, sm: 320 }}
      >
        <AnchorLink to="/campaigns/$id" params={{ id }} fw={600} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </AnchorLink>
        {name !== code && (
          <div>
            <Code style={{ overflowWrap: 'anywhere' }}>{code}</Code>
          </div>
        )}
      </Table.Th>
      <Table.Td {...numbers} w={narrow(105)}>
        {lastWeekOf(campaign).toLocaleString('en')}
      </Table.Td>
      <Table.Td {...numbers} w={narrow(105)}>
        {formatRate(campaign.approveRate)}
      </Table.Td>
      <Table.Td {...numbers}>{campaign.total.toLocaleString('en')}</Table.Td>
      <Table.Td miw={180}>
        <Stack gap={4} align="flex-start">
          <Group gap={4}>
            <CampaignState campaign={campaign} />
          </Group>
          <CampaignWarnings campaign={campaign} />
        </Stack>
      </Table.Td>
      <Table.Td ta="right">
        <RelativeTime at={campaign.lastLeadAt} />
      </Table.Td>
      <Table.Td>
        <Sparkline days={campaign.days} />
      </Table.Td>
      <Table.Td maw={220}>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {names.length === 0 ? noNames : [names.join(', '), rest > 0 ? t.more(rest) : ''].join(' ').trim()}
        </Text>
      </Table.Td>
      {isManaging && (
        <Table.Td>
          <CampaignActions campaign={campaign} />
        </Table.Td>
      )}
    </Table.Tr>
  );
}
