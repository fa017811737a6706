import { may } from '@leads/core/credential/roles';
import { Button, Center, Group, Text, Title, VisuallyHidden } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useMediaQuery } from '@mantine/hooks';
import { useMemo, useRef, useState } from 'react';
import { meQuery, roleOf } from '../../api/account.ts';
import { browserAddress } from '../../api/workspace-address.ts';
import { leadCountQuery, leadQuery } from '../../api/leads.ts';
import { jobsQuery } from '../../api/jobs.ts';
import { useCommands } from '../../shell/commands.ts';
import { IconPlus } from '../../shell/icons.tsx';
import { lazyDialog, lazySection } from '../../shell/lazy-part.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import type { ListView } from '../../leads/built-in-views.ts';
import { useEarlyKeys } from './early-keys.ts';
import { FilterChips } from './filter-chips.tsx';
import { LeadFilterBar } from './lead-filters.tsx';
import { LeadList } from './lead-list.tsx';
import {
  emptyFilters,
  type FilterChanges,
  filtersOf,
  type LeadSearch,
  readLeadSearch,
  sortChanges,
} from '../../leads/lead-search.ts';
import { type LeadsDialog, OpenLeadsDialog } from './leads-dialogs.tsx';
import { LeadsMenu, pageActions } from './leads-menu.tsx';
import classes from './leads.module.css';
import { exportsQuery } from './running-exports.ts';
import { useFoundCount } from './use-found-count.ts';
import { useLeadList } from './use-lead-list.ts';
import { useNextPage } from './use-next-page.ts';
import { usePageKeys } from './use-page-keys.ts';
import { useShownView } from './use-shown-view.ts';
import { useStatusChanges } from './use-status-changes.tsx';
import { ViewsMenu } from './views-menu.tsx';
import { useTitle } from '../../shell/use-title.ts';

const t = texts.leads;
const route = getRouteApi('/console/leads');

const LeadPanel = lazyDialog(async () => (await import('./lead-panel.tsx')).LeadPanel);
const ExportProgress = lazySection(async () => (await import('./export-progress.tsx')).ExportProgress, null);
const JobsLine = lazySection(async () => (await import('./jobs-line.tsx')).JobsLine, null);

/** The next page is fetched while this many leads follow the open one. */
const leadsAhead = 20;

export function LeadsPage() {
  const search = readLeadSearch(route.useSearch());
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { data: me } = useSuspenseQuery(meQuery);
  const role = roleOf(me);
  const canChange = may(role, 'changeStatuses');
  // The same object while the filters do not change. Opening a lead does not change the filters.
  const key = JSON.stringify(filtersOf(search));
  const filters = useMemo(() => filtersOf(JSON.parse(key) as LeadSearch), [key]);

  const scroller = useRef<HTMLDivElement>(null);
  const searchBox = useRef<HTMLInputElement>(null);
  const data = useLeadList(filters, () => (scroller.current?.scrollTop ?? 0) < 8);
  const { list, leads, pollNow } = data;
  const total = useQuery({ ...leadCountQuery(filters), enabled: list.isSuccess && !list.isPlaceholderData });
  const foundCount = useFoundCount(key, total.data);
  const statusChanges = useStatusChanges(role, pollNow);
  const earlyKeys = useEarlyKeys(search.lead !== undefined);
  // The open lead has a next one, until all leads are loaded.
  const openAt = leads.findIndex(({ id }) => id === search.lead);
  useNextPage(data, openAt === -1 ? undefined : openAt, leadsAhead, { cancelRefetch: false });
  const [dialog, setDialog] = useState<LeadsDialog>();
  const { data: exports = [] } = useQuery(exportsQuery);
  const { data: jobs } = useQuery({ ...jobsQuery, enabled: may(role, 'runJobs') });
  const { view, columns, shown, isChanged } = useShownView(me.user.id, role, search.view, filters);
  const openView = (opened: ListView | undefined) => {
    columns.forgetDraft();
    show(
      opened === undefined
        ? { view: undefined }
        : { ...emptyFilters, ...opened.filters, sort: opened.sort, view: opened.id },
    );
  };

  // On a narrow screen, the panel covers the list.
  const isNarrow = useMediaQuery('(max-width: 62em)', undefined, { getInitialValueInEffect: false });
  const isCovered = isNarrow && search.lead !== undefined;

  useTitle(view === undefined ? t.title : `${view.name} - ${t.title}`);

  const show = (
    changes: { readonly [Name in keyof LeadSearch]?: LeadSearch[Name] | undefined },
    options: { replace?: boolean } = {},
  ) => {
    // Without the filter that it needs, a sort order is dropped.
    const next = readLeadSearch({ ...search, ...changes });
    void navigate({ to: '/leads', search: next, resetScroll: false, ...options });
  };
  const hrefOf = (id: string) => browserAddress(`/leads?lead=${encodeURIComponent(id)}`);
  const showAll = () => void navigate({ to: '/leads', search: {}, resetScroll: false });
  const focusList = () => scroller.current?.focus({ preventScroll: true });
  const exportAll = (format: 'csv' | 'ndjson') => {
    void import('./export-leads.ts').then(
      ({ exportLeads }) => exportLeads({ queryClient, format, filters, total: total.data }),
      () => notifications.show({ color: 'red', message: texts.common.unreachable }),
    );
  };

  const actions = pageActions(canChange, setDialog, exportAll);
  useCommands([
    { label: t.newLead, run: () => setDialog('new') },
    { label: t.search, shortcut: '/', run: () => searchBox.current?.select() },
    ...actions.flat(),
  ]);
  usePageKeys({ '/': () => searchBox.current?.select(), '?': () => setDialog('shortcuts') });

  return (
    <div className={classes['split']}>
      <div className={classes['page']} inert={isCovered}>
        <Group justify="space-between" gap="xs">
          {/* On a narrow screen, the count is below the title. */}
          <Group gap="0 12px" align="baseline" flex="1 1 5rem" miw={0}>
            <Title order={1} size="h3">
              {t.title}
            </Title>
            <Text size="sm" c="dimmed" truncate>
              {total.data !== undefined
                ? t.count(total.data)
                : list.data !== undefined && t.loadedCount(leads.length)}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ViewsMenu
              view={view}
              isChanged={isChanged}
              shown={shown}
              role={role}
              onOpen={openView}
              onSaved={columns.forgetDraft}
            />
            <Button
              size="xs"
              leftSection={<IconPlus size={16} aria-hidden />}
              onClick={() => setDialog('new')}
            >
              {t.newLead}
            </Button>
            <LeadsMenu actions={actions} />
          </Group>
        </Group>
        <LeadFilterBar
          searchBox={searchBox}
          filters={filters}
          onChange={(changes: FilterChanges) => show(changes)}
          onClear={showAll}
          onLeaveSearch={focusList}
        />
        <FilterChips filters={filters} onChange={(changes) => show(changes)} />
        {jobs !== undefined && jobs.length > 0 && <JobsLine jobs={jobs} role={role} />}
        {exports.length > 0 && <ExportProgress exports={exports} />}
        {data.isFailing && (
          <Text size="sm" c="red" role="status">
            {t.paused}
          </Text>
        )}
        {list.isError && list.data === undefined ? (
          <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />
        ) : list.data === undefined ? (
          <Center flex={1}>
            <PendingPage />
          </Center>
        ) : (
          <LeadList
            data={data}
            scroller={scroller}
            filters={filters}
            openId={search.lead}
            total={total.data}
            role={role}
            statusChanges={statusChanges}
            // The address follows the search box some milliseconds after Enter.
            isOutdated={() =>
              list.isPlaceholderData || (searchBox.current?.value.trim() ?? '') !== (filters.q ?? '')
            }
            onOpen={(lead) => {
              earlyKeys.choose(lead);
              // The panel requests the same lead once its script has run.
              void queryClient.prefetchQuery(leadQuery(lead));
              show({ lead });
            }}
            onFocus={() => void LeadPanel.preload()}
            onExportAll={exportAll}
            onSort={(sort) => show(sortChanges(filters, sort))}
            hrefOf={hrefOf}
            columns={columns.columns}
            onShowAll={() => {
              showAll();
              focusList();
            }}
            onResize={(column, width) => {
              const { names, widths } = columns.columns;
              columns.change({ names, widths: { ...widths, [column]: width } });
            }}
          />
        )}
        <VisuallyHidden role="status">{foundCount !== undefined && t.found(foundCount)}</VisuallyHidden>
        <VisuallyHidden role="status" aria-live="polite">
          {data.arrived > 0 ? t.arrived(data.arrived) : ''}
        </VisuallyHidden>
        {statusChanges.dialogs}
        {dialog !== undefined && (
          <OpenLeadsDialog
            dialog={dialog}
            columns={columns}
            role={role}
            onChanged={pollNow}
            onClose={() => setDialog(undefined)}
          />
        )}
      </div>
      {search.lead !== undefined && (
        <LeadPanel
          id={search.lead}
          me={me}
          isListLoaded={list.data !== undefined}
          queue={leads}
          statusChanges={statusChanges}
          earlyKeys={earlyKeys}
          onMove={(lead) => show({ lead }, { replace: true })}
          onOpen={(lead) => show({ lead })}
          onClose={() => show({ lead: undefined })}
          hrefOf={hrefOf}
        />
      )}
    </div>
  );
}
