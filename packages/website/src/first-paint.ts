/*
 * The script in the document. It starts what the page needs first while the document is read: the files of the page,
 * and its first data. Without it, the files wait for the entry script, and the data for the files.
 */
import type { ReadRequest } from './api/first-requests.ts';
import {
  addressOf,
  attentionRequest,
  campaignFiguresRequest,
  commonHeaders,
  failingEndpointsRequest,
  firstStepsRequest,
  keyOf,
  landingPagesRequest,
  leadListRequest,
  mappedPages,
  meRequest,
  firstTimeLimitMs,
  overviewPayoutsRequest,
  overviewRequest,
  paymentsRequest,
  statementRequest,
} from './api/first-requests.ts';
import { filtersOf, readLeadSearch } from './leads/lead-search.ts';
import { daysOf, readRangeSearch } from './shell/range-search.ts';
import { payableDaysOf, readStatementSearch } from './pages/statements/statement-search.ts';

/** The scripts and styles of pages, by the name of the page. The build replaces it. */
declare const pageFiles: Readonly<Record<string, readonly string[]>>;

const pageNames: Readonly<Record<string, string>> = {
  '': 'overview',
  '/overview': 'overview',
  '/leads': 'leads',
  '/campaigns': 'campaigns',
  '/statements': 'statements',
};

/** The first data of the pages. */
const requests: Readonly<Record<string, (search: Record<string, unknown>) => readonly ReadRequest[]>> = {
  leads(search) {
    const read = readLeadSearch(search);
    // The filters of a saved view are not in the address.
    return [meRequest, ...(read.view === undefined ? [leadListRequest(filtersOf(read))] : [])];
  },
  overview(search) {
    const days = daysOf(readRangeSearch(search));
    return [
      meRequest,
      overviewRequest(days),
      overviewPayoutsRequest(days),
      attentionRequest,
      failingEndpointsRequest,
      firstStepsRequest,
    ];
  },
  campaigns: () => [meRequest, campaignFiguresRequest, landingPagesRequest(mappedPages)],
  statements(search) {
    const read = readStatementSearch(search);
    const { user } = read;
    return [
      meRequest,
      statementRequest({ ...payableDaysOf(read), ...(user !== undefined && { user }) }),
      paymentsRequest({}),
    ];
  },
};

/** Colors before the styles have arrived. The component library reads the same setting. */
function setColors(): void {
  const dark = 'dark';
  const chosen = localStorage.getItem('mantine-color-scheme-value');
  const isDark =
    chosen === dark || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset['mantineColorScheme'] = isDark ? dark : 'light';
}

function preload(file: string): void {
  const link = document.createElement('link');
  const isStyle = file.endsWith('.css');
  link.rel = isStyle ? 'preload' : 'modulepreload';
  if (isStyle) link.as = 'style';
  link.crossOrigin = '';
  link.href = file;
  document.head.append(link);
}

function start(): void {
  const page = /^\/w\/[^/]+(.*?)\/?$/.exec(location.pathname)?.[1];
  // Without the workspace in the address, only the server knows which one it is.
  if (page === undefined) return;
  document.documentElement.dataset['firstPage'] = '';
  const name = pageNames[page];
  if (name === undefined) return;
  globalThis.firstResponses = new Map();
  const search = Object.fromEntries(new URLSearchParams(location.search));
  for (const request of requests[name]?.(search) ?? []) {
    const address = addressOf(request);
    const response = fetch(address, {
      headers: commonHeaders(),
      signal: AbortSignal.timeout(firstTimeLimitMs),
    });
    // The client sends a failed request again and reports its error.
    response.catch(() => undefined);
    globalThis.firstResponses.set(keyOf(address), response);
  }
  for (const file of pageFiles[name] ?? []) preload(file);
}

try {
  setColors();
} catch {
  // Without storage, the styles choose the colors.
}
start();
