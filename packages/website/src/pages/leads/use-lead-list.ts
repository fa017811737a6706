import {
  type InfiniteData,
  keepPreviousData,
  onlineManager,
  type QueryClient,
  type QueryKey,
  useInfiniteQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { Lead } from '@leads/core/lead';
import { useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import {
  getLead,
  invalidateCounts,
  type LeadPage,
  leadListQuery,
  leadQuery,
  listChanges,
} from '../../api/leads.ts';
import { type LeadFilters, sortOf } from '../../leads/lead-search.ts';
import { statusOf } from '../../leads/lead-status.ts';
import { isAbove, isByTime, keepsPlace, mergeLeads } from './merge-leads.ts';
import { poll } from './poll.ts';

/** The overlap of successive requests, because a lead can become visible after the time of its change. */
const overlapMs = 10_000;
/** How long a new lead is highlighted. */
const freshMs = 3_000;

/**
 * Loads the matching leads page by page, and merges later changes.
 *
 * @param isAtTop returns whether the list is scrolled to the top. If not, new leads wait, because they would move the
 *   visible rows.
 */
export function useLeadList(filters: LeadFilters, isAtTop: () => boolean) {
  const queryClient = useQueryClient();
  const options = leadListQuery(filters);
  const list = useInfiniteQuery({ ...options, placeholderData: keepPreviousData });
  const sort = sortOf(filters);
  const pages = list.data?.pages;
  const answeredAt = pages?.[0]?.answeredAt;
  const leads = useMemo(() => pages?.flatMap((page) => page.leads) ?? [], [pages]);

  const [waiting, setWaiting] = useState<readonly Lead[]>([]);
  /** Whether there are more changes than one response holds. */
  const [isBehind, setBehind] = useState(false);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const [arrived, setArrived] = useState(0);

  // Other filters start a new list.
  const key = JSON.stringify(filters);
  const [shownKey, setShownKey] = useState(key);
  if (!list.isPlaceholderData && shownKey !== key) {
    setShownKey(key);
    setWaiting([]);
    setBehind(false);
    setFresh(new Set());
  }

  /** The times of the last known changes of leads, by id. A lead that leaves the list and returns is not new. */
  const seen = useRef<{ key: string; times: Map<string, string> }>({ key, times: new Map() });
  useEffect(() => {
    if (seen.current.key !== shownKey) seen.current = { key: shownKey, times: new Map() };
    for (const { id, updatedAt } of leads) seen.current.times.set(id, updatedAt);
  }, [leads, shownKey]);

  const restart = async () => {
    setWaiting([]);
    setBehind(false);
    queryClient.setQueryData(options.queryKey, (data) => ({
      pages: data?.pages.slice(0, 1) ?? [],
      pageParams: data?.pageParams.slice(0, 1) ?? [],
    }));
    await list.refetch();
  };

  const merge = (changes: readonly Lead[]) => {
    const data = queryClient.getQueryData(options.queryKey);
    if (data === undefined) return;
    const { pages: merged, added } = mergeLeads(data.pages, changes, sort);
    if (merged.every((page, i) => page === data.pages[i])) return;
    queryClient.setQueryData(options.queryKey, { ...data, pages: merged });
    const unseen = added.filter(({ id }) => !seen.current.times.has(id));
    if (unseen.length > 0) setFresh(new Set(unseen.map(({ id }) => id)));
  };

  const take = ({ changed, matching, isComplete }: Changes) => {
    const isTop = isAtTop() && waiting.length === 0;
    const loaded = queryClient.getQueryData(options.queryKey)?.pages ?? [];
    const listed = new Set([...loaded.flatMap((page) => page.leads), ...waiting].map(({ id }) => id));
    for (const { id, updatedAt } of waiting) seen.current.times.set(id, updatedAt);
    const isNews = ({ id, updatedAt }: Lead) => (seen.current.times.get(id) ?? '') < updatedAt;

    const matchingIds = new Set(matching.leads.map(({ id }) => id));
    const left = new Set(
      changed.filter((lead) => listed.has(lead.id) && isNews(lead) && !matchingIds.has(lead.id)).map(idOf),
    );
    const news = matching.leads.filter(isNews);
    for (const lead of [...changed, ...news]) {
      // The drawer shows the current version of its lead.
      if (isNews(lead)) void queryClient.invalidateQueries({ queryKey: leadQuery(lead.id).queryKey });
    }
    if (left.size > 0 || news.some(({ id }) => !listed.has(id))) invalidateCounts(queryClient);

    // A change of a lead that is not loaded is also news.
    const openedAt = new Date((answeredAt ?? 0) - overlapMs).toISOString();
    const arrivals = news.filter(({ id, createdAt }) => !seen.current.times.has(id) && createdAt > openedAt);
    setArrived((before) => before + arrivals.length);
    const last = matching.leads.at(-1);
    if (!isComplete || (matching.cursor !== undefined && last !== undefined && isNews(last))) {
      if (isTop) void restart();
      else setBehind(true);
      return;
    }
    if (left.size > 0) {
      for (const { id, updatedAt } of changed) if (left.has(id)) seen.current.times.set(id, updatedAt);
      updateListed(queryClient, (lead) => (left.has(lead.id) ? undefined : lead), options.queryKey);
      setWaiting((before) => before.filter(({ id }) => !left.has(id)));
    }
    if (news.length === 0) return;
    if (!isByTime(sort)) {
      // The service knows the place of a lead in another order: the list has no call-backs, and does not compare texts as
      // the database does.
      if (!news.every((lead) => keepsPlace(lead, loaded, sort))) {
        if (isTop) void restart();
        else setBehind(true);
      }
      const newsById = new Map(news.map((lead) => [lead.id, lead]));
      updateListed(queryClient, (lead) => newsById.get(lead.id) ?? lead, options.queryKey);
      for (const { id, updatedAt } of news) seen.current.times.set(id, updatedAt);
      return;
    }
    const waits = (lead: Lead) =>
      !isTop &&
      // In the order of creation, a lead that was shown before returns to its place.
      (sort.endsWith('updatedAt') ||
        !seen.current.times.has(lead.id) ||
        waiting.some(({ id }) => id === lead.id)) &&
      isAbove(lead, loaded, sort);
    const above = news.filter(waits);
    merge(news.filter((lead) => !above.includes(lead)));
    for (const { id, updatedAt } of news) seen.current.times.set(id, updatedAt);
    if (above.length === 0) return;
    const ids = new Set(above.map(idOf));
    setWaiting((before) => [...above, ...before.filter(({ id }) => !ids.has(id))]);
  };

  const isReady = list.isSuccess && !list.isPlaceholderData;
  const { isFailing, pollNow } = useChanges(filters, isReady ? answeredAt : undefined, take);

  useEffect(() => {
    if (fresh.size === 0) return;
    const timer = setTimeout(() => setFresh(new Set()), freshMs);
    return () => clearTimeout(timer);
  }, [fresh]);

  return {
    list,
    leads,
    /** Identifies the shown list. */
    shownKey,
    fresh,
    /** The number of leads that have arrived since the page was opened. */
    arrived,
    waiting: waiting.length,
    isBehind,
    showWaiting: () => {
      if (isBehind) {
        void restart();
        return;
      }
      merge(waiting);
      setWaiting([]);
    },
    isFailing,
    pollNow,
  };
}

const idOf = ({ id }: Lead) => id;

/** The leads that changed since the last request. */
interface Changes {
  /** The changed leads, whether they match the filters or not. */
  readonly changed: readonly Lead[];
  /** Those that match the filters. */
  readonly matching: LeadPage;
  /** Whether `changed` contains every changed lead. */
  readonly isComplete: boolean;
}

/**
 * Polls for changed leads while the page is visible. It requests all changes, because a lead that no longer matches the
 * filters is missing among those that match. It requests those that match only if there are changes. `pollNow` requests
 * them at once, after a change of the given leads by this page.
 */
function useChanges(
  filters: LeadFilters,
  fromMs: number | undefined,
  onChanges: (changes: Changes) => void,
): { isFailing: boolean; pollNow: (changed?: readonly Lead[]) => void } {
  const [isFailing, setFailing] = useState(false);
  const pollNow = useRef<() => void>(undefined);
  /** The times of the responses to the changes that this page has made, by the ids of the leads. */
  const changedMs = useRef(new Map<string, number>());
  const key = JSON.stringify(filters);
  const handleChanges = useEffectEvent(onChanges);

  useEffect(() => {
    if (fromMs === undefined) return;
    const end = new AbortController();
    const { sort: _sort, ...conditions } = JSON.parse(key) as LeadFilters;
    const hasConditions = Object.keys(conditions).length > 0;
    let sinceMs = fromMs;
    /** The leads of the last response, to recognize those that the overlap repeats. */
    let handled = new Map<string, string>();
    const request = async () => {
      const from = sinceMs - overlapMs;
      const startedMs = performance.now();
      const changed = await listChanges(hasConditions ? {} : conditions, from, end.signal);
      const isHandled = ({ id, updatedAt }: Lead) => handled.get(id) === updatedAt;
      const isNew = !changed.leads.every(isHandled);
      const matching = isNew && hasConditions ? await listChanges(conditions, from, end.signal) : changed;
      // A response can be older than a change that this page has made meanwhile. The next one has the changed lead.
      const isCurrent = ({ id }: Lead) => (changedMs.current.get(id) ?? 0) <= startedMs;
      const current = changed.leads.filter(isCurrent);
      const last = changed.leads.at(-1);
      if (isNew) {
        handleChanges({
          changed: current,
          matching: { ...matching, leads: matching.leads.filter(isCurrent) },
          isComplete: changed.cursor === undefined || last === undefined || isHandled(last),
        });
      }
      handled = new Map(current.map(({ id, updatedAt }) => [id, updatedAt]));
      sinceMs = changed.answeredAt;
    };
    // A hidden page does not poll. It polls as soon as it becomes visible again.
    const polling = poll(request, { isPaused: () => document.hidden, onFailing: setFailing });
    const stopListening = onlineManager.subscribe((isOnline) => {
      if (isOnline) polling.now();
    });
    document.addEventListener('visibilitychange', polling.now);
    pollNow.current = polling.now;
    return () => {
      end.abort();
      polling.end();
      stopListening();
      pollNow.current = undefined;
      document.removeEventListener('visibilitychange', polling.now);
    };
  }, [key, fromMs]);

  return {
    isFailing,
    pollNow: useCallback((changed = []) => {
      for (const { id } of changed) changedMs.current.set(id, performance.now());
      pollNow.current?.();
    }, []),
  };
}

/**
 * Applies a change to the leads of the cached lists. A lead leaves a list if the change returns `undefined`, or if the
 * list has only leads of other statuses.
 *
 * @param queryKey the lists. The default is all of them.
 */
export function updateListed(
  queryClient: QueryClient,
  change: (lead: Lead) => Lead | undefined,
  queryKey: QueryKey = ['leads', 'list'],
): void {
  for (const query of queryClient.getQueryCache().findAll({ queryKey })) {
    const { status } = query.queryKey[2] as LeadFilters;
    const changeOne = (lead: Lead) => {
      const changed = change(lead);
      const hasStatus = status === undefined || status.split(',').includes(statusOf(changed ?? lead));
      return changed !== undefined && (changed === lead || hasStatus) ? [changed] : [];
    };
    queryClient.setQueryData<InfiniteData<LeadPage>>(query.queryKey, (data) => {
      if (data === undefined) return undefined;
      const pages = data.pages.map((page) => {
        const leads = page.leads.flatMap(changeOne);
        const isUnchanged =
          leads.length === page.leads.length && leads.every((lead, i) => lead === page.leads[i]);
        return isUnchanged ? page : { ...page, leads };
      });
      return pages.every((page, i) => page === data.pages[i]) ? data : { ...data, pages };
    });
  }
}

/** Shows the current version of a lead in the cached lists, after the service has rejected a change of an older one. */
export async function refreshListed(queryClient: QueryClient, id: string): Promise<void> {
  try {
    // Not by the query of the panel, which cancels its request when it opens the next lead.
    const found = await getLead(id);
    queryClient.setQueryData(leadQuery(id).queryKey, found);
    updateListed(queryClient, (each) => (each.id === id ? found.lead : each));
  } catch (error) {
    // Another error leaves the row until the next request for changes.
    if (!(error instanceof ApiError && error.status === 404)) return;
    updateListed(queryClient, (each) => (each.id === id ? undefined : each));
  }
  invalidateCounts(queryClient);
}
