import { keepPreviousData, type QueryClient, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import type { Lead } from '@leads/core/lead';
import { useCallback, useEffect, useEffectEvent, useMemo, useState } from 'react';
import { type LeadPage, leadCountQuery, leadListQuery, listChanges } from '../../api/leads.ts';
import type { LeadFilters } from './lead-search.ts';
import { defaultSort, isAbove, mergeLeads } from './merge-leads.ts';

/** The interval of requests for changes, and the longest interval while requests fail. */
const intervalMs = 2_000;
const maxIntervalMs = 60_000;
/** The overlap of successive requests, because a lead can become visible after the time of its change. */
const overlapMs = 10_000;
/** How long a new lead is highlighted. */
const freshMs = 3_000;
const failuresToReport = 3;

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
  const sort = filters.sort ?? defaultSort;
  const pages = list.data?.pages;
  const leads = useMemo(() => pages?.flatMap((page) => page.leads) ?? [], [pages]);

  const [waiting, setWaiting] = useState<readonly Lead[]>([]);
  /** Whether more leads have arrived than one response holds. */
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
    if (added.length === 0) return;
    queryClient.setQueryData(leadCountQuery(filters).queryKey, (count) =>
      count === undefined ? undefined : count + added.length,
    );
    setFresh(new Set(added.map(({ id }) => id)));
  };

  const take = (page: LeadPage) => {
    const loaded = queryClient.getQueryData(options.queryKey)?.pages ?? [];
    const known = new Map<string, string>();
    for (const { id, updatedAt } of [...loaded.flatMap((each) => each.leads), ...waiting]) {
      known.set(id, updatedAt);
    }
    const isNews = ({ id, updatedAt }: Lead) => (known.get(id) ?? '') < updatedAt;
    const news = page.leads.filter(isNews);
    if (news.length === 0) return;
    const isTop = isAtTop() && waiting.length === 0;
    const arrivals = news.filter(({ id }) => !known.has(id)).length;
    setArrived((before) => before + arrivals);
    const last = page.leads.at(-1);
    if (page.cursor !== undefined && last !== undefined && isNews(last)) {
      if (isTop) void restart();
      else setBehind(true);
      return;
    }
    const above = isTop ? [] : news.filter((lead) => isAbove(lead, loaded, sort));
    merge(news.filter((lead) => !above.includes(lead)));
    if (above.length === 0) return;
    const ids = new Set(above.map(({ id }) => id));
    setWaiting((before) => [...above, ...before.filter(({ id }) => !ids.has(id))]);
  };

  const isReady = list.isSuccess && !list.isPlaceholderData;
  const answeredAt = pages?.[0]?.answeredAt;
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

/** Polls for changed leads while the page is visible. */
function useChanges(
  filters: LeadFilters,
  fromMs: number | undefined,
  onPage: (page: LeadPage) => void,
): { isFailing: boolean; pollNow: () => void } {
  const [isFailing, setFailing] = useState(false);
  const [pollRequests, setPollRequests] = useState(0);
  const key = JSON.stringify(filters);
  const handlePage = useEffectEvent(onPage);

  useEffect(() => {
    if (fromMs === undefined) return;
    const end = new AbortController();
    const query = JSON.parse(key) as LeadFilters;
    let sinceMs = fromMs;
    let failures = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isPolling = false;
    const poll = async () => {
      clearTimeout(timer);
      // A hidden page does not poll. It polls as soon as it becomes visible again.
      if (isPolling || document.hidden) return;
      isPolling = true;
      try {
        const page = await listChanges(query, sinceMs - overlapMs, end.signal);
        sinceMs = page.answeredAt;
        failures = 0;
        handlePage(page);
      } catch {
        failures += 1;
      }
      isPolling = false;
      if (end.signal.aborted) return;
      setFailing(failures >= failuresToReport);
      timer = setTimeout(() => void poll(), Math.min(intervalMs * 2 ** failures, maxIntervalMs));
    };
    const onVisible = () => void poll();
    document.addEventListener('visibilitychange', onVisible);
    timer = setTimeout(() => void poll(), pollRequests === 0 ? intervalMs : 0);
    return () => {
      end.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [key, fromMs, pollRequests]);

  const pollNow = useCallback(() => setPollRequests((before) => before + 1), []);
  return { isFailing, pollNow };
}

/** Applies a change to the leads of all cached lists. */
export function updateListed(queryClient: QueryClient, change: (lead: Lead) => Lead): void {
  queryClient.setQueriesData<{ pages: LeadPage[]; pageParams: unknown[] }>(
    { queryKey: ['leads', 'list'] },
    (data) => {
      if (data === undefined) return undefined;
      const pages = data.pages.map((page) => {
        const leads = page.leads.map(change);
        return leads.every((lead, i) => lead === page.leads[i]) ? page : { ...page, leads };
      });
      return { ...data, pages };
    },
  );
}
