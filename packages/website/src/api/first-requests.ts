import type { LeadFilterQuery } from '@leads/core/lead';
import type { StatementQuery } from '@leads/core/payout';
import { workspaceOfPage } from './workspace-address.ts';

/*
 * The requests of a page for its first data. A script in the document sends them before the scripts of the website have
 * arrived. It shares this file, so that its requests are the ones that the page sends.
 */

type Query = Readonly<Record<string, string | undefined>>;

/** A request of this website's own API. The path is below `/api`. */
export interface ReadRequest {
  readonly path: string;
  readonly query?: Query;
}

/** The days of an overview, and the days to compare them with. Without the latter, it compares with the days before. */
export interface OverviewRange {
  readonly from: string;
  readonly to: string;
  readonly compareFrom?: string | undefined;
  readonly compareTo?: string | undefined;
  readonly zone: string;
}

/** The maximum numbers of items in one response of the lists. */
const pageSizes = { leads: 200, landingPages: 50, payments: 20 };

export const meRequest: ReadRequest = { path: '/console/me' };
export const attentionRequest: ReadRequest = { path: '/console/attention' };
export const firstStepsRequest: ReadRequest = { path: '/console/first-steps' };
export const failingEndpointsRequest: ReadRequest = { path: '/console/failing-endpoints' };
export const campaignFiguresRequest: ReadRequest = { path: '/console/campaign-figures' };

export function leadListRequest(
  query: LeadFilterQuery & { cursor?: string | undefined },
  limit = pageSizes.leads,
): ReadRequest {
  return { path: '/console/order/leads', query: { ...query, limit: String(limit) } };
}

export function overviewRequest(range: OverviewRange): ReadRequest {
  return { path: '/console/overview', query: { ...range } };
}

export function overviewPayoutsRequest(range: OverviewRange): ReadRequest {
  return { path: '/console/overview/payouts', query: { ...range } };
}

/** The landing pages that are mapped to a campaign. */
export const mappedPages = { mapped: 'true' };

export function landingPagesRequest(query: Query): ReadRequest {
  return { path: '/console/landing-pages', query: { ...query, limit: String(pageSizes.landingPages) } };
}

export function statementRequest(query: StatementQuery): ReadRequest {
  return { path: '/console/statements', query: { ...query } };
}

/** @param query the user that the payments are to, and the cursor. */
export function paymentsRequest(query: Query): ReadRequest {
  return { path: '/console/payments', query: { ...query, limit: String(pageSizes.payments) } };
}

/** Returns the address of a request. Parameters without a value are left out. */
export function addressOf({ path, query = {} }: ReadRequest): string {
  const given = Object.entries(query).filter((each): each is [string, string] => each[1] !== undefined);
  const text = new URLSearchParams(given).toString();
  return `/api${path}${text === '' ? '' : `?${text}`}`;
}

/** Returns the headers of every request to this website's own API. They name the workspace of the page. */
export function commonHeaders(): Record<string, string> {
  const workspace = workspaceOfPage();
  return {
    accept: 'application/problem+json, application/json;q=0.9',
    ...(workspace !== undefined && { 'workspace-id': workspace }),
  };
}

/** Returns the key of a response. The router and the script in the document order parameters differently. */
export function keyOf(address: string): string {
  const url = new URL(address, location.origin);
  url.searchParams.sort();
  return url.href;
}

/** The time limit of a first request with its response, and the age from which its response is not used. */
export const firstTimeLimitMs = 20_000;

declare global {
  /** The responses to the requests of the script in the document, by {@link keyOf}. */
  // oxlint-disable-next-line no-var -- a property of globalThis
  var firstResponses: Map<string, Promise<Response>> | undefined;
}

/**
 * Returns the response to a request that the script in the document has sent. Each is returned once. A request that
 * changes something drops all of them, because they would be older than the change. So does the time limit.
 */
export function takeFirstResponse(
  method: string | undefined,
  address: string,
): Promise<Response> | undefined {
  if (method !== 'GET' || performance.now() > firstTimeLimitMs) globalThis.firstResponses = undefined;
  const key = keyOf(address);
  const response = globalThis.firstResponses?.get(key);
  globalThis.firstResponses?.delete(key);
  return response;
}
