import { Group, Loader } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { may } from '@leads/core/credential/roles';
import type { MemberRole } from '@leads/core/credential';
import type { Lead, LeadStatus } from '@leads/core/lead';
import type { LeadColumn } from '@leads/core/lead/view-columns';
import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useCallback,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
} from 'react';
import { countFilters, type LeadFilters, type LeadSort, sortOf } from '../../leads/lead-search.ts';
import { nextStatuses, statusKeys, statusOf } from '../../leads/lead-status.ts';
import { shortcutKeyOf } from '../../shell/shortcut-key.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { useNow } from '../../shell/time.ts';
import { useIsNarrower } from '../../shell/use-is-narrower.ts';
import * as texts from '../../texts/index.ts';
import { type Columns, layoutOf, needsRequest } from './columns.ts';
import { EmptyList } from './empty-list.tsx';
import { LeadHeads } from './lead-heads.tsx';
import { LeadRow, rowId } from './lead-row.tsx';
import classes from './leads.module.css';
import { indexAfterKey } from './list-keys.ts';
import { timeOf } from './merge-leads.ts';
import { readRowClick } from './row-click.ts';
import { SelectionActions, type SelectionDialog } from './selection-actions.tsx';
import { useActiveLead } from './use-active-lead.ts';
import { useColumnValues } from './use-column-values.ts';
import type { useLeadList } from './use-lead-list.ts';
import { type LeadSelection, useLeadSelection } from './use-lead-selection.ts';
import { useListedNames } from './use-listed-names.ts';
import { useNextPage } from './use-next-page.ts';
import { useRowHeights } from './use-row-heights.ts';
import { useStableScroll } from './use-stable-scroll.ts';
import type { StatusChanges } from './use-status-changes.tsx';
import { WaitingLeads } from './waiting-leads.tsx';

const t = texts.leads;

/** The list fetches the next page when the user is this many rows from the last loaded row. */
const ahead = 100;
/** Where the list is narrower, in pixels, the actions on a selection need several lines. */
const barWidth = 960;

/** The list of leads. It renders only the visible rows. */
export function LeadList({
  data,
  scroller,
  filters,
  openId,
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
  /** The lead in the panel. */
  openId: string | undefined;
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
  const { list, leads, shownKey, fresh, waiting, isBehind, showWaiting } = data;
  const canChange = may(role, 'changeStatuses');
  const sort = sortOf(filters);
  const time = timeOf(sort);
  const nowMs = useNow();
  const { campaignNames, userNames, viewerNames } = useListedNames(columns);
  const frame = useRef<HTMLDivElement>(null);
  const { hasCards, furtherLines, scale, height, headHeight } = useRowHeights(frame, columns);
  const isNarrow = useIsNarrower(frame, barWidth);
  const layout = useMemo(() => layoutOf(columns, scale), [columns, scale]);

  const places = useMemo(() => new Map(leads.map(({ id }, i) => [id, i])), [leads]);
  const { activeId, activeIndex, setActiveId } = useActiveLead(leads, places, shownKey, openId);
  const selection = useLeadSelection({ leads, places, filters, canSelect: canChange });
  const { chosen, isAll } = selection;
  const [menuId, setMenuId] = useState<string>();
  const [dialog, setDialog] = useState<SelectionDialog>();
  const [forFilters, setForFilters] = useState(filters);
  if (forFilters !== filters) {
    setForFilters(filters);
    setMenuId(undefined);
    // Its change would be of the leads that match the new filters.
    setDialog(undefined);
  }

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

  useStableScroll(scroller, virtualizer, leads, places, shownKey, height, activeIndex);
  useEffect(() => virtualizer.scrollToOffset(0), [virtualizer, shownKey]);

  const openBefore = useRef(openId);
  const follow = useEffectEvent(() => {
    // A lead that is opened from the list stays in its place. The panel moves from lead to lead.
    if (openBefore.current !== undefined && activeIndex !== -1 && activeId === openId) {
      virtualizer.scrollToIndex(activeIndex);
    }
    openBefore.current = openId;
  });
  useEffect(() => follow(), [openId]);

  const rows = virtualizer.getVirtualItems();
  const values = useColumnValues(
    needsRequest(columns) ? rows.flatMap(({ index }) => leads[index] ?? []) : [],
  );
  useNextPage(data, virtualizer.range?.endIndex ?? 0, ahead, { cancelRefetch: true });

  const focusList = () => scroller.current?.focus({ preventScroll: true });
  const clearSelection = () => {
    selection.clear();
    focusList();
  };

  const move = (to: number, isSelecting = false) => {
    const index = Math.max(0, Math.min(leads.length - 1, to));
    const lead = leads[index];
    if (lead === undefined) return;
    if (isSelecting) selection.selectRangeTo(index, activeId);
    setActiveId(lead.id);
    virtualizer.scrollToIndex(index);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const active = leads[activeIndex];
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? height) / height) - 2);
    const key = shortcutKeyOf(event.nativeEvent);
    const to = indexAfterKey(key, activeIndex, page, leads.length - 1);
    const status = statusKeys[key];
    if (to !== undefined) move(to, event.shiftKey);
    else if ((key === ' ' || key === 'Enter' || status !== undefined) && isOutdated()) {
      // The shown row is not the one that the user means.
      notifications.show({ id: 'too-early', color: 'yellow', message: t.tooEarly });
    } else if (key === ' ') selection.select(activeIndex, event.shiftKey);
    else if (key === 'Enter' && active !== undefined) onOpen(active.id);
    else if (key === 'Escape') clearSelection();
    else if (key === 'u' && canChange) statusChanges.undo();
    else if (status !== undefined && canChange) {
      // A key that is held down must not change the leads that follow.
      if (event.repeat) return;
      if (isAll) setDialog(status);
      else statusChanges.change(chosen.length > 0 ? chosen : active === undefined ? [] : [active], status);
    } else return;
    event.preventDefault();
  };

  const onClick = (event: MouseEvent<HTMLElement>) => {
    const click = readRowClick(event);
    if (click === undefined) return;
    const { index, action } = click;
    const lead = leads[index];
    if (lead === undefined) return;
    // A checkbox shows its state only if its click is not prevented.
    if (!(event.target instanceof HTMLInputElement)) event.preventDefault();
    // A list that gets the focus makes its first row the active one.
    focusList();
    setActiveId(lead.id);
    if (action === 'select') selection.select(index, event.shiftKey);
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
      data-narrow={isNarrow || undefined}
      aria-busy={list.isPlaceholderData}
      style={
        {
          '--row-columns': layout.template,
          '--row-width': `${layout.minWidth}px`,
          '--further-lines': furtherLines,
        } as CSSProperties
      }
    >
      <SelectionActions
        selection={selection}
        filters={filters}
        total={total}
        role={role}
        hasMore={list.hasNextPage}
        statusChanges={statusChanges}
        dialog={dialog}
        onDialog={setDialog}
        onAssigned={focusList}
        onExportAll={onExportAll}
        onClear={clearSelection}
      />
      <WaitingLeads
        count={waiting}
        isBehind={isBehind}
        time={time}
        onShow={() => {
          showWaiting();
          virtualizer.scrollToOffset(0);
          focusList();
        }}
      />
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
            tick={canChange && <SelectLoaded selection={selection} />}
            sort={sort}
            onSort={onSort}
            onResize={onResize}
          />
        </div>
        <div role="rowgroup" className={classes['body']} style={{ height: leads.length * height }}>
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
                viewers={viewerNames.get(lead.id) ?? ''}
                isSelectable={canChange}
                isSelected={selection.isSelected(lead.id)}
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
        {list.isFetchingNextPage && (
          <Group justify="center" p="sm">
            <Loader size="sm" aria-label={t.loadingMore} />
          </Group>
        )}
        {list.isFetchNextPageError && list.error !== null && (
          <ErrorNotice error={list.error} onRetry={() => void list.fetchNextPage()} />
        )}
      </div>
      {leads.length === 0 && list.isSuccess && (
        <EmptyList isFiltered={countFilters(filters) > 0 || filters.q !== undefined} onShowAll={onShowAll} />
      )}
    </div>
  );
}

/** The checkbox that selects all loaded leads. */
function SelectLoaded({ selection }: { selection: LeadSelection }) {
  const { chosen, isAllLoaded, selectLoaded, clear } = selection;
  return (
    <label className={classes['tick']}>
      <input
        type="checkbox"
        className={classes['check']}
        aria-label={t.selectAll}
        checked={isAllLoaded}
        ref={(box) => {
          if (box !== null) box.indeterminate = chosen.length > 0 && !isAllLoaded;
        }}
        onChange={({ currentTarget }) => (currentTarget.checked ? selectLoaded() : clear())}
      />
    </label>
  );
}
