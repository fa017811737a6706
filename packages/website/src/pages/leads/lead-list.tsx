import { Button, Group, Loader, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import type { MemberRole } from '@leads/core/credential';
import type { Lead, LeadStatus, ListedViewer } from '@leads/core/lead';
import { neededBy } from '@leads/core/lead/sort-fields';
import type { LeadColumn } from '@leads/core/lead/view-columns';
import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { campaignsQuery } from '../../api/campaigns.ts';
import { listedViewersQuery } from '../../api/lead-work.ts';
import { exportSelection } from '../../api/leads.ts';
import { membersQuery } from '../../api/members.ts';
import { campaignLabel } from '../../shell/campaign-option.ts';
import { IconArrowUp } from '../../shell/icons.tsx';
import { download } from '../../shell/download.ts';
import { type Density, useDensity } from '../../shell/density.ts';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import { ButtonLink } from '../../shell/links.tsx';
import { ErrorNotice } from '../../shell/states.tsx';
import { useNow } from '../../shell/time.ts';
import { useIsNarrower } from '../../shell/use-is-narrower.ts';
import * as texts from '../../texts/index.ts';
import { BulkBar } from './bulk-bar.tsx';
import { type Columns, isFurther, layoutOf, needsRequest } from './columns.ts';
import { LeadHeads } from './lead-heads.tsx';
import { LeadRow, type RowAction, rowId } from './lead-row.tsx';
import { countFilters, type LeadFilters, type LeadSort, sortOf } from '../../leads/lead-search.ts';
import { nextStatuses, statusKeys, statusOf } from '../../leads/lead-status.ts';
import classes from './leads.module.css';
import { timeOf } from './merge-leads.ts';
import type { useLeadList } from './use-lead-list.ts';
import { useColumnValues } from './use-column-values.ts';
import type { StatusChanges } from './use-status-changes.tsx';

const t = texts.leads;

const AssignDialog = lazyDialog(async () => (await import('./assign-dialog.tsx')).AssignDialog);
const JobDialog = lazyDialog(async () => (await import('./job-dialog.tsx')).JobDialog);

/** The list fetches the next page when the user is this many rows from the last loaded row. */
const ahead = 100;
/** Where the list is narrower, in pixels, each lead is a card. The five usual columns of a medium window have 728. */
const cardWidth = 600;
/** The heights of a row and of a card, in pixels. */
const rowHeights: Readonly<Record<Density, { readonly row: number; readonly card: number }>> = {
  comfortable: { row: 42, card: 60 },
  compact: { row: 32, card: 52 },
};
/** The height of a line with further columns of a card, in pixels. */
const furtherHeight = 18;
const nothing: ReadonlySet<string> = new Set();

/** Returns the names of the users who have a lead open, by the id of the lead. */
function namesByLead(viewers: readonly ListedViewer[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { leadId, name } of viewers) {
    const others = names.get(leadId);
    names.set(leadId, others === undefined ? name : `${others}, ${name}`);
  }
  return names;
}

/** The list of leads. It renders only the visible rows. */
export function LeadList({
  data: { list, leads, shownKey, fresh, waiting, isBehind, showWaiting, pollNow },
  scroller,
  filters,
  total,
  role,
  statusChanges,
  isOutdated,
  onOpen,
  onFocus,
  onExportAll,
  onSort,
  hrefOf,
  columns,
  onResize,
  onShowAll,
}: {
  data: ReturnType<typeof useLeadList>;
  scroller: RefObject<HTMLDivElement | null>;
  filters: LeadFilters;
  total: number | undefined;
  role: MemberRole;
  statusChanges: StatusChanges;
  /** Returns whether the list does not show yet what the user has searched for. */
  isOutdated: () => boolean;
  onOpen: (id: string) => void;
  /** Called when the list gets the focus. The user may open a lead soon. */
  onFocus: () => void;
  /** Exports all leads that match the filters. */
  onExportAll: (format: 'csv' | 'ndjson') => void;
  onSort: (sort: LeadSort) => void;
  hrefOf: (id: string) => string;
  columns: Columns;
  onResize: (column: LeadColumn, width: number) => void;
  /** Removes all filters. */
  onShowAll: () => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const hasCards = useIsNarrower(frame, cardWidth);
  const [density] = useDensity();
  const furtherLines = Math.min(2, Math.ceil(columns.names.filter(isFurther).length / 3));
  const height = hasCards ? rowHeights[density].card + furtherLines * furtherHeight : rowHeights[density].row;
  const headHeight = hasCards ? 36 : 40;
  const [activeId, setActiveId] = useState<string>();
  const [listed, setListed] = useState(leads);
  const [listedKey, setListedKey] = useState(shownKey);
  const [selected, setSelected] = useState(nothing);
  const [menuId, setMenuId] = useState<string>();
  /** Whether the selection is all leads that match, also those that are not loaded. */
  const [isAllChosen, setAll] = useState(false);
  const [jobStatus, setJobStatus] = useState<LeadStatus>();
  const [isAssigning, setAssigning] = useState(false);
  /** The first lead of a range selection. */
  const anchor = useRef<string>(undefined);
  const nowMs = useNow();
  const { data: campaigns } = useQuery(campaignsQuery);
  const campaignNames = useMemo(
    () => new Map(campaigns?.map((campaign) => [campaign.id, campaignLabel(campaign)])),
    [campaigns],
  );

  const { data: members } = useQuery({
    ...membersQuery,
    enabled: columns.names.includes('user') || columns.names.includes('assignee'),
  });
  const userNames = useMemo(() => new Map(members?.map(({ userId, name }) => [userId, name])), [members]);
  const { data: viewers } = useQuery({ ...listedViewersQuery, enabled: role !== 'publisher' });
  const viewersOf = useMemo(() => namesByLead(viewers ?? []), [viewers]);
  const layout = useMemo(() => layoutOf(columns), [columns]);

  const places = useMemo(() => new Map(leads.map(({ id }, i) => [id, i])), [leads]);
  // A lead that leaves the list is not selected any more, and the next lead becomes the active one.
  if (listed !== leads) {
    setListed(leads);
    const kept = [...selected].filter((id) => places.has(id));
    if (kept.length < selected.size) setSelected(new Set(kept));
    if (listedKey !== shownKey) {
      // Other filters scroll to the first lead.
      setListedKey(shownKey);
      setActiveId(activeId === undefined ? undefined : leads[0]?.id);
    } else if (activeId !== undefined && !places.has(activeId)) {
      const from = listed.findIndex(({ id }) => id === activeId);
      const next = from === -1 ? undefined : listed.slice(from).find(({ id }) => places.has(id));
      setActiveId(next?.id ?? (from === -1 ? undefined : leads.at(-1)?.id));
    }
  }
  const activeIndex = activeId === undefined ? -1 : (places.get(activeId) ?? -1);
  // oxlint-disable-next-line react/incompatible-library -- it renders by itself and is not passed on
  const virtualizer = useVirtualizer({
    count: leads.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (i) => leads[i]?.id ?? i,
    overscan: 12,
    scrollMargin: headHeight,
    scrollPaddingStart: headHeight,
    // The active row stays in the document, so that a screen reader keeps its position.
    rangeExtractor: (range) => {
      const shown = defaultRangeExtractor(range);
      if (activeIndex === -1 || shown.includes(activeIndex)) return shown;
      return [...shown, activeIndex].toSorted((a, b) => a - b);
    },
  });
  useEffect(() => virtualizer.measure(), [virtualizer, height]);

  // The visible rows stay where they are while leads above them arrive and leave.
  const anchored = useRef({ leads, shownKey });
  useLayoutEffect(() => {
    const before = anchored.current;
    anchored.current = { leads, shownKey };
    const element = scroller.current;
    if (element === null || before.leads === leads || before.shownKey !== shownKey) return;
    if (element.scrollTop < height) return;
    const top = Math.floor(element.scrollTop / height);
    const index = before.leads.findIndex(({ id }, i) => i >= top && places.has(id));
    const moved = (places.get(before.leads[index]?.id ?? '') ?? index) - index;
    if (index !== -1 && moved !== 0) element.scrollTop += moved * height;
  }, [leads, shownKey, places, height, scroller]);

  // New filters clear the selection at once, before the new list arrives. Leads that the user selects in the old list
  // meanwhile stay selected if the new list contains them.
  const [forFilters, setForFilters] = useState(filters);
  if (forFilters !== filters) {
    setForFilters(filters);
    setSelected(nothing);
    setAll(false);
    setMenuId(undefined);
    // Their change would be of the leads that match the new filters.
    setJobStatus(undefined);
    setAssigning(false);
  }
  useEffect(() => {
    anchor.current = undefined;
  }, [filters]);
  useEffect(() => virtualizer.scrollToOffset(0), [virtualizer, shownKey]);

  const rows = virtualizer.getVirtualItems();
  const values = useColumnValues(
    needsRequest(columns) ? rows.flatMap(({ index }) => leads[index] ?? []) : [],
  );
  const lastSeen = virtualizer.range?.endIndex ?? 0;
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, isPlaceholderData, fetchNextPage } = list;
  useEffect(() => {
    if (!hasNextPage || isFetchingNextPage || isFetchNextPageError || isPlaceholderData) return;
    if (lastSeen >= leads.length - ahead) void fetchNextPage();
  }, [
    hasNextPage,
    isFetchingNextPage,
    isFetchNextPageError,
    isPlaceholderData,
    fetchNextPage,
    lastSeen,
    leads.length,
  ]);

  const canChange = role !== 'publisher';
  const isFiltered = countFilters(filters) > 0 || filters.q !== undefined;
  const sort = sortOf(filters);
  const time = timeOf(sort);
  const chosen = leads.filter(({ id }) => selected.has(id));
  const isAll = isAllChosen && chosen.length > 0;
  const focusList = () => scroller.current?.focus({ preventScroll: true });

  const select = (index: number, isRange: boolean) => {
    const lead = leads[index];
    if (lead === undefined || !canChange) return;
    setAll(false);
    const from = isRange && anchor.current !== undefined ? places.get(anchor.current) : undefined;
    const next = new Set(selected);
    if (from === undefined) {
      if (!next.delete(lead.id)) next.add(lead.id);
      anchor.current = lead.id;
    } else {
      for (let i = Math.min(from, index); i <= Math.max(from, index); i++) {
        const each = leads[i];
        if (each !== undefined) next.add(each.id);
      }
    }
    setSelected(next);
  };
  const clearSelection = () => {
    setSelected(nothing);
    setAll(false);
    focusList();
  };

  const exportChosen = async (format: 'csv' | 'ndjson') => {
    if (isAll) {
      onExportAll(format);
      return;
    }
    try {
      const ids = chosen.map(({ id }) => id);
      const day = new Date().toISOString().slice(0, 10);
      const has = neededBy(sort);
      const order = { sort, ...(has && { has }) };
      download(await exportSelection(format, { ids, ...order }), `leads-${day}.${format}`);
    } catch (error) {
      notifications.show({ color: 'red', message: (error as Error).message });
    }
  };

  const move = (to: number, isSelecting = false) => {
    const index = Math.max(0, Math.min(leads.length - 1, to));
    const lead = leads[index];
    if (lead === undefined) return;
    if (isSelecting) {
      anchor.current ??= activeId;
      select(index, true);
    }
    setActiveId(lead.id);
    virtualizer.scrollToIndex(index);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const active = leads[activeIndex];
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? height) / height) - 2);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: activeIndex + 1,
      j: activeIndex + 1,
      ArrowUp: activeIndex - 1,
      k: activeIndex - 1,
      PageDown: activeIndex + page,
      PageUp: activeIndex - page,
      Home: 0,
      End: leads.length - 1,
    };
    const to = moves[event.key];
    const status = statusKeys[event.key];
    if (to !== undefined) move(to, event.shiftKey);
    else if ((event.key === ' ' || event.key === 'Enter' || status !== undefined) && isOutdated()) {
      // The shown row is not the one that the user means.
      notifications.show({ id: 'too-early', color: 'yellow', message: t.tooEarly });
    } else if (event.key === ' ') select(activeIndex, event.shiftKey);
    else if (event.key === 'Enter' && active !== undefined) onOpen(active.id);
    else if (event.key === 'Escape') clearSelection();
    else if (event.key === 'u' && canChange) statusChanges.undo();
    else if (status !== undefined && canChange) {
      // A key that is held down must not change the leads that follow.
      if (event.repeat) return;
      if (isAll) setJobStatus(status);
      else statusChanges.change(chosen.length > 0 ? chosen : active === undefined ? [] : [active], status);
    } else return;
    event.preventDefault();
  };

  const onClick = (event: MouseEvent<HTMLElement>) => {
    if (!(event.target instanceof Element)) return;
    const index = Number(event.target.closest<HTMLElement>('[data-index]')?.dataset['index']);
    const lead = leads[index];
    if (lead === undefined || event.target.closest('[role="menu"]') !== null) return;
    const action: RowAction =
      (event.target.closest<HTMLElement>('[data-action]')?.dataset['action'] as RowAction | undefined) ??
      (event.shiftKey ? 'select' : 'open');
    // With Ctrl or Command, the browser opens the link in another tab.
    if (action === 'open' && (event.ctrlKey || event.metaKey)) return;
    if (action === 'select' && event.target instanceof HTMLLabelElement) {
      // The browser sends a second click, for the checkbox of the label.
      return;
    }
    // A checkbox shows its state only if its click is not prevented.
    if (!(event.target instanceof HTMLInputElement)) event.preventDefault();
    // A list that gets the focus makes its first row the active one.
    focusList();
    setActiveId(lead.id);
    if (action === 'select') select(index, event.shiftKey);
    else if (action === 'menu') setMenuId(menuId === lead.id ? undefined : lead.id);
    else onOpen(lead.id);
  };

  const latest = useRef({ statusChanges });
  useEffect(() => {
    latest.current = { statusChanges };
  });
  const closeMenu = useCallback(() => {
    setMenuId(undefined);
    scroller.current?.focus({ preventScroll: true });
  }, [scroller]);
  const changeOne = useCallback(
    (lead: Lead, to: LeadStatus) => {
      closeMenu();
      latest.current.statusChanges.change([lead], to);
    },
    [closeMenu],
  );

  return (
    <div
      ref={frame}
      className={classes['frame']}
      data-cards={hasCards || undefined}
      aria-busy={isPlaceholderData}
      style={{ '--row-columns': layout.template, '--row-width': `${layout.minWidth}px` } as CSSProperties}
    >
      {canChange && chosen.length > 0 && (
        <BulkBar
          leads={chosen}
          role={role}
          all={isAll && total !== undefined ? { total, filters } : undefined}
          onSelectAll={
            hasNextPage && total !== undefined && chosen.length === leads.length
              ? { total, select: () => setAll(true) }
              : undefined
          }
          onChange={(to) => (isAll ? setJobStatus(to) : statusChanges.change(chosen, to))}
          onAssign={() => setAssigning(true)}
          onExport={(format) => void exportChosen(format)}
          onClear={clearSelection}
        />
      )}
      {isAssigning && (
        <AssignDialog
          leads={isAll ? undefined : chosen}
          filters={filters}
          total={total ?? 0}
          onAssigned={(assigned) => {
            setAssigning(false);
            statusChanges.assigned(chosen, assigned);
            pollNow();
            focusList();
          }}
          onStarted={() => {
            setAssigning(false);
            clearSelection();
          }}
          onClose={() => setAssigning(false)}
        />
      )}
      {jobStatus !== undefined && total !== undefined && (
        <JobDialog
          to={jobStatus}
          filters={filters}
          total={total}
          role={role}
          onStarted={() => {
            setJobStatus(undefined);
            clearSelection();
          }}
          onClose={() => setJobStatus(undefined)}
        />
      )}
      {(waiting > 0 || isBehind) && (
        <div className={classes['pill']}>
          <Button
            size="compact-md"
            radius="xl"
            leftSection={<IconArrowUp size={16} aria-hidden />}
            onClick={() => {
              showWaiting();
              virtualizer.scrollToOffset(0);
              focusList();
            }}
          >
            {isBehind ? t.manyChanges : time === 'createdAt' ? t.newLeads(waiting) : t.changedLeads(waiting)}
          </Button>
        </div>
      )}
      <div
        ref={scroller}
        className={classes['scroller']}
        role="grid"
        aria-label={t.grid}
        aria-rowcount={total === undefined ? -1 : total + 1}
        aria-colcount={columns.names.length + 1}
        aria-multiselectable={canChange}
        aria-activedescendant={activeIndex === -1 || activeId === undefined ? undefined : rowId(activeId)}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onClick={onClick}
        onFocus={(event) => {
          onFocus();
          if (event.target === scroller.current && activeIndex === -1) {
            setActiveId(leads[virtualizer.range?.startIndex ?? 0]?.id);
          }
        }}
      >
        <div role="rowgroup" className={classes['heads']}>
          <LeadHeads
            columns={columns}
            tick={
              canChange && (
                <label className={classes['tick']}>
                  <input
                    type="checkbox"
                    className={classes['check']}
                    aria-label={t.selectAll}
                    checked={chosen.length > 0 && chosen.length === leads.length}
                    ref={(box) => {
                      if (box !== null) box.indeterminate = chosen.length > 0 && chosen.length < leads.length;
                    }}
                    onChange={({ currentTarget }) => {
                      setAll(false);
                      setSelected(currentTarget.checked ? new Set(leads.map(({ id }) => id)) : nothing);
                    }}
                  />
                </label>
              )
            }
            sort={sort}
            onSort={onSort}
            onResize={onResize}
          />
        </div>
        <div role="rowgroup" className={classes['body']} style={{ height: virtualizer.getTotalSize() }}>
          {rows.map(({ index, start, key }) => {
            const lead = leads[index];
            if (lead === undefined) return null;
            return (
              <LeadRow
                key={key}
                lead={lead}
                index={index}
                top={start - headHeight}
                height={height}
                href={hrefOf(lead.id)}
                time={time}
                nowMs={nowMs}
                columns={columns.names}
                isCard={hasCards}
                campaign={campaignNames.get(lead.campaignId) ?? ''}
                user={userNames.get(lead.userId) ?? ''}
                values={values.get(lead.id)}
                assignee={userNames.get(values.get(lead.id)?.assigneeId ?? '') ?? ''}
                viewers={viewersOf.get(lead.id) ?? ''}
                isSelectable={canChange}
                isSelected={selected.has(lead.id)}
                isActive={index === activeIndex}
                isFresh={fresh.has(lead.id)}
                pending={statusChanges.pending.get(lead.id)}
                menu={menuId === lead.id ? nextStatuses(statusOf(lead), role) : undefined}
                onStatus={changeOne}
                onMenuClose={closeMenu}
              />
            );
          })}
        </div>
        {isFetchingNextPage && (
          <Group justify="center" p="sm">
            <Loader size="sm" aria-label={t.loadingMore} />
          </Group>
        )}
        {isFetchNextPageError && list.error !== null && (
          <ErrorNotice error={list.error} onRetry={() => void fetchNextPage()} />
        )}
      </div>
      {leads.length === 0 && list.isSuccess && (
        // Not in the grid, which has rows only.
        <Stack align="center" p="md" className={classes['empty']}>
          <Text c="dimmed" ta="center">
            {isFiltered ? t.none : t.noneYet}
          </Text>
          {isFiltered ? (
            <Button variant="default" onClick={onShowAll}>
              {t.showAll}
            </Button>
          ) : (
            <ButtonLink variant="default" to="/developers" search={{ tab: 'examples' }}>
              {t.sendFirst}
            </ButtonLink>
          )}
        </Stack>
      )}
    </div>
  );
}
