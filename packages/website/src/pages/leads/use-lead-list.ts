import { keepPreviousData, type QueryClient, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import type { Lead } from '@leads/core/lead';
import { useCallback, useEffect, useEffectEvent, useMemo, useState } from 'react';
import { type LeadPage, leadCountQuery, leadListQuery, listChanges } from '../../api/leads.ts';
import type { LeadFilters } from './lead-search.ts';
import { defaultSort, isAbove, mergeLeads } from './merge-leads.ts';

/** How often is asked for what changed, and the longest that is waited where nobody answers. */
const intervalMs = 2_000;
const longestMs = 60_000;
/** What is asked for again each time: a lead may become visible later than the time that it was stored with. */
const overlapMs = 10_000;
/** How long a lead that came in is marked. */
const freshMs = 3_000;
const failuresToTell = 3;

/**
 * The leads that match, page by page, and what changes among them while they are looked at.
 *
 * @param isAtTop whether the user looks at the beginning: what is new only moves what is not looked at.
 */
export function useLeadList(filters: LeadFilters, isAtTop: () => boolean) {
  const queryClient = useQueryClient();
  const options = leadListQuery(filters);
  const list = useInfiniteQuery({ ...options, placeholderData: keepPreviousData });
  const sort = filters.sort ?? defaultSort;
  const pages = list.data?.pages;
  const leads = useMemo(() => pages?.flatMap((page) => page.leads) ?? [], [pages]);

  const [waiting, setWaiting] = useState<readonly Lead[]>([]);
  /** More came in than one answer holds. */
  const [isBehind, setBehind] = useState(false);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const [arrived, setArrived] = useState(0);

  // Another list begins anew.
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
    /** Stays the same while the same list is shown. */
    shownKey,
    fresh,
    /** How many have come in since the page was opened. */
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

/** Asks again and again for what changed since, while anybody looks. */
function useChanges(
  filters: LeadFilters,
  fromMs: number | undefined,
  onAnswer: (page: LeadPage) => void,
): { isFailing: boolean; pollNow: () => void } {
  const [isFailing, setFailing] = useState(false);
  const [asked, setAsked] = useState(0);
  const key = JSON.stringify(filters);
  const tell = useEffectEvent(onAnswer);

  useEffect(() => {
    if (fromMs === undefined) return;
    const end = new AbortController();
    const asks = JSON.parse(key) as LeadFilters;
    let sinceMs = fromMs;
    let failures = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isAsking = false;
    const ask = async () => {
      clearTimeout(timer);
      // Nobody looks: whoever comes back is answered at once.
      if (isAsking || document.hidden) return;
      isAsking = true;
      try {
        const page = await listChanges(asks, sinceMs - overlapMs, end.signal);
        sinceMs = page.answeredAt;
        failures = 0;
        tell(page);
      } catch {
        failures += 1;
      }
      isAsking = false;
      if (end.signal.aborted) return;
      setFailing(failures >= failuresToTell);
      timer = setTimeout(() => void ask(), Math.min(intervalMs * 2 ** failures, longestMs));
    };
    const onVisible = () => void ask();
    document.addEventListener('visibilitychange', onVisible);
    timer = setTimeout(() => void ask(), asked === 0 ? intervalMs : 0);
    return () => {
      end.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [key, fromMs, asked]);

  const pollNow = useCallback(() => setAsked((before) => before + 1), []);
  return { isFailing, pollNow };
}

/** Changes leads wherever they are listed. */
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
