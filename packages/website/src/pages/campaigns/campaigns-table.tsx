import type { CampaignStatus, LandingPageView } from '@leads/core/campaign';
import type { CampaignFigures, PublishersByCampaign } from '@leads/core/overview';
import { ActionIcon, Button, Code, Group, Select, Stack, Table, Text } from '@mantine/core';
import { type DragEvent, useRef, useState } from 'react';
import { IconArrowDown, IconArrowUp } from '../../shell/icons.tsx';
import { AnchorLink } from '../../shell/links.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { RelativeTime } from '../../shell/relative-time.tsx';
import { SortableHeader, useSortedRows } from '../../shell/sortable-table.tsx';
import { useIsNarrower } from '../../shell/use-is-narrower.ts';
import * as texts from '../../texts/index.ts';
import { formatRate } from '../../shell/numbers.ts';
import { LeadsLink } from '../../leads/leads-link.tsx';
import {
  CampaignDialog,
  type CampaignDialogName,
  CampaignMenu,
  type OpenCampaignDialog,
} from './campaign-actions.tsx';
import { CampaignState, CampaignWarnings } from './campaign-state.tsx';
import { readDraggedPage } from './dragged-page.ts';
import { Sparkline } from './sparkline.tsx';

const t = texts.campaigns;

/** The number of landing pages named for a campaign. */
const named = 3;
/** The number of campaigns shown at first, and added by each "show more". */
const pageSize = 50;
/** Where the page is narrower, in pixels, each campaign is a card. */
const cardWidth = 900;
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
  /** The loaded landing pages that have a campaign. Absent after an error. */
  readonly landingPages: readonly LandingPageView[] | undefined;
  /** Whether all landing pages are loaded. */
  readonly isComplete: boolean;
  readonly isManaging: boolean;
  /** The numbers of publishers, for owners and managers. Absent until they are loaded. */
  readonly publishers: PublishersByCampaign | undefined;
  /** Called when a landing page is dropped on a campaign. */
  readonly onDropPage: (id: string, campaign: CampaignFigures) => void;
}

const columns: readonly (readonly [Column, string])[] = [
  ['name', t.campaign],
  ['week', t.lastWeek],
  ['approveRate', t.approveRate],
  ['total', texts.common.leads],
  ['status', t.state],
  ['lastLeadAt', t.lastLead],
];
const textColumns: ReadonlySet<Column> = new Set(['name', 'status']);

/** The campaigns with their figures, one row each. Where a table has no room, each campaign is a card. */
export function CampaignsTable({ campaigns, ...props }: CampaignsTableProps) {
  const [limit, setLimit] = useState(pageSize);
  const frame = useRef<HTMLDivElement>(null);
  const hasCards = useIsNarrower(frame, cardWidth);
  // The dialogs belong to the table, because a row ends when the window gets another width.
  const [dialog, setDialog] = useState<OpenCampaignDialog>();
  const { sorted, sort, sortBy } = useSortedRows<CampaignFigures, Column>(campaigns, valueOf, {
    by: 'week',
    isDescending: true,
  });
  const shown = sorted.slice(0, limit);
  return (
    <Stack gap="xs" ref={frame}>
      {hasCards ? (
        <>
          <Group gap="xs">
            <Select
              w={200}
              aria-label={t.sortBy}
              allowDeselect={false}
              value={sort.by}
              onChange={(by) => by !== null && sortBy(by, textColumns.has(by))}
              data={columns.map(([value, label]) => ({ value, label }))}
            />
            <ActionIcon
              variant="default"
              size="var(--control-height)"
              aria-label={t.reverse}
              onClick={() => sortBy(sort.by, textColumns.has(sort.by))}
            >
              {sort.isDescending ? (
                <IconArrowDown size={16} aria-hidden />
              ) : (
                <IconArrowUp size={16} aria-hidden />
              )}
            </ActionIcon>
          </Group>
          <RecordList label={t.title}>
            {shown.map((campaign) => (
              <CampaignCard
                key={campaign.id}
                campaign={campaign}
                onChoose={(name) => setDialog({ campaign, name })}
                {...props}
              />
            ))}
          </RecordList>
        </>
      ) : (
        <Table.ScrollContainer
          minWidth={1060}
          scrollAreaProps={{ viewportProps: { tabIndex: 0, role: 'group', 'aria-label': t.title } }}
        >
          <Table verticalSpacing={8} horizontalSpacing={10} fz="sm">
            <Table.Thead>
              <Table.Tr>
                {columns.map(([by, label]) => (
                  <SortableHeader
                    key={by}
                    label={label}
                    by={by}
                    isText={textColumns.has(by)}
                    sort={sort}
                    onSort={sortBy}
                  />
                ))}
                <Table.Th scope="col">{t.twoWeeks}</Table.Th>
                {props.isManaging && <Table.Th scope="col">{t.publishers}</Table.Th>}
                <Table.Th scope="col">{t.landingPagesOf}</Table.Th>
                {props.isManaging && <Table.Th scope="col">{t.actions}</Table.Th>}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((campaign) => (
                <CampaignRow
                  key={campaign.id}
                  campaign={campaign}
                  onChoose={(name) => setDialog({ campaign, name })}
                  {...props}
                />
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {dialog !== undefined && <CampaignDialog {...dialog} onClose={() => setDialog(undefined)} />}
      {sorted.length > limit && (
        <Button variant="default" onClick={() => setLimit(limit + pageSize)}>
          {t.moreCampaigns(sorted.length - limit)}
        </Button>
      )}
    </Stack>
  );
}

interface CampaignProps extends Omit<CampaignsTableProps, 'campaigns'> {
  readonly campaign: CampaignFigures;
  readonly onChoose: (dialog: CampaignDialogName) => void;
}

/** Returns the properties of an element on which landing pages can be dropped. */
function useDropTarget({ campaign, isManaging, onDropPage }: CampaignProps) {
  const [isOver, setIsOver] = useState(false);
  const takesPages = isManaging && campaign.status !== 'archived';
  return {
    'data-campaign': campaign.code,
    style: { outline: isOver ? '2px solid var(--mantine-primary-color-filled)' : 'none' },
    onDragOver: (event: DragEvent) => {
      if (!takesPages || readDraggedPage(event) === undefined) return;
      // By default, the browser rejects drops.
      event.preventDefault();
      setIsOver(true);
    },
    onDragLeave: () => setIsOver(false),
    onDrop: (event: DragEvent) => {
      setIsOver(false);
      const page = readDraggedPage(event);
      if (!takesPages || page === undefined) return;
      event.preventDefault();
      onDropPage(event.dataTransfer.getData(page), campaign);
    },
  };
}

/** Returns the names of the first landing pages of a campaign, and the number of the others. */
function pagesOf({ campaign, landingPages, isComplete, isManaging }: CampaignProps): string {
  const own = landingPages?.filter(({ campaignId }) => campaignId === campaign.id);
  const names = own?.slice(0, named).map((page) => page.name) ?? [];
  const rest = (campaign.landingPages ?? own?.length ?? 0) - names.length;
  if (names.length > 0) return [names.join(', '), rest > 0 ? t.more(rest) : ''].join(' ').trim();
  if (!isComplete && campaign.landingPages !== 0) return t.notLoaded;
  return isManaging ? t.none : t.noOwnPages;
}

/** A link to the leads of the only publisher of a campaign, or to its page, which lists the publishers. */
function CampaignPublishers({ campaign: { id, code }, publishers }: CampaignProps) {
  const { publishers: count = 0, only } = publishers?.find(({ campaignId }) => campaignId === id) ?? {};
  if (publishers === undefined) return null;
  if (only !== undefined)
    return <LeadsLink filters={{ user: only.userId, campaignCode: code }}>{only.name}</LeadsLink>;
  if (count === 0) return t.none;
  return (
    <AnchorLink to="/campaigns/$id" params={{ id }} size="sm">
      {t.publisherCount(count)}
    </AnchorLink>
  );
}

function CampaignName({ campaign: { id, name, code } }: Pick<CampaignProps, 'campaign'>) {
  return (
    <div>
      <AnchorLink to="/campaigns/$id" params={{ id }} fw={600} style={{ overflowWrap: 'anywhere' }}>
        {name}
      </AnchorLink>
      {name !== code && (
        <div>
          <Code style={{ overflowWrap: 'anywhere' }}>{code}</Code>
        </div>
      )}
    </div>
  );
}

function CampaignCard(props: CampaignProps) {
  const { campaign, isManaging, onChoose } = props;
  return (
    <RecordRow
      {...useDropTarget(props)}
      title={
        <>
          <CampaignName campaign={campaign} />
          <CampaignState campaign={campaign} />
        </>
      }
      facts={[
        [t.lastWeek, lastWeekOf(campaign).toLocaleString('en')],
        [t.approveRate, formatRate(campaign.approveRate)],
        [texts.common.leads, campaign.total.toLocaleString('en')],
        [t.lastLead, <RelativeTime key="lastLead" at={campaign.lastLeadAt} />],
        ...(isManaging
          ? ([[t.publishers, <CampaignPublishers key="publishers" {...props} />]] as const)
          : []),
        [t.landingPagesOf, pagesOf(props)],
      ]}
      {...(isManaging && { actions: <CampaignMenu campaign={campaign} onChoose={onChoose} /> })}
    >
      <Stack gap={4} align="flex-start">
        <CampaignWarnings campaign={campaign} />
        <Sparkline days={campaign.days} />
      </Stack>
    </RecordRow>
  );
}

function CampaignRow(props: CampaignProps) {
  const { campaign, isManaging, onChoose } = props;
  const numbers = { ta: 'right', style: { fontVariantNumeric: 'tabular-nums' } } as const;
  return (
    <Table.Tr {...useDropTarget(props)}>
      <Table.Th scope="row" fw={400} miw={180} maw={320}>
        <CampaignName campaign={campaign} />
      </Table.Th>
      <Table.Td {...numbers}>{lastWeekOf(campaign).toLocaleString('en')}</Table.Td>
      <Table.Td {...numbers}>{formatRate(campaign.approveRate)}</Table.Td>
      <Table.Td {...numbers}>{campaign.total.toLocaleString('en')}</Table.Td>
      <Table.Td miw={180}>
        <Stack gap={4} align="flex-start">
          <Group gap={4}>
            <CampaignState campaign={campaign} />
          </Group>
          <CampaignWarnings campaign={campaign} />
        </Stack>
      </Table.Td>
      <Table.Td ta="right" style={{ whiteSpace: 'nowrap' }}>
        <RelativeTime at={campaign.lastLeadAt} />
      </Table.Td>
      <Table.Td>
        <Sparkline days={campaign.days} />
      </Table.Td>
      {isManaging && (
        <Table.Td w={130} miw={110} maw={160}>
          <CampaignPublishers {...props} />
        </Table.Td>
      )}
      <Table.Td maw={220}>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {pagesOf(props)}
        </Text>
      </Table.Td>
      {isManaging && (
        <Table.Td>
          <CampaignMenu campaign={campaign} onChoose={onChoose} />
        </Table.Td>
      )}
    </Table.Tr>
  );
}
