import type { Me } from '@leads/core/account';
import type { Problem } from '@leads/core/error-schema';
import * as texts from '../texts/index.ts';
import { ApiError } from './api-error.ts';
import { recordAnswer, recordNoAnswer } from './connection.ts';
import { addressOf, commonHeaders, meRequest, takeFirstResponse } from './first-requests.ts';
import { workspaceOfPage } from './workspace-address.ts';

/** The time limit of a request with its response. The server itself answers within 10 s. */
export const timeLimitMs = 20_000;

/** The connection between the client and the rest of the website. */
export interface ClientContext {
  /** Called if the session has ended. */
  readonly onSignedOut: () => void;
  /** Called if the user is no longer a member of the workspace of the page. The server has then rejected the request. */
  readonly onWorkspaceLost: () => void;
  /** Called if another user has signed in in this browser since the page was loaded. */
  readonly onUserChanged: () => void;
  /** Called if a request is refused to the user. The role may have changed, or the session may have ended. */
  readonly onRefused: () => void;
  /** Asks the user for the password or the second factor. Returns whether the user has given it. */
  readonly onConfirmationRequired: () => Promise<boolean>;
}

let context: ClientContext | undefined;

/** Connects the client to the website. */
export function configureClient(given: ClientContext): void {
  context = given;
}

/** The user and the workspace that this document shows. */
let shown: Pick<Me, 'user' | 'workspace'> | undefined;

/**
 * Records the user of the session, and the workspace. The page keeps those that it shows until it is reloaded, because its
 * content is of both.
 *
 * @throws ApiError after a sign-in of another user in another tab, and after the end of the membership.
 */
export function recordShown(me: Me): void {
  const isOther = shown !== undefined && shown.user.id !== me.user.id;
  const isLost = shown?.workspace !== undefined && me.workspace === undefined;
  if (isOther) context?.onUserChanged();
  else if (isLost) context?.onWorkspaceLost();
  if (isOther || isLost) throw new ApiError(404, texts.common.unknownWorkspace);
  shown = me;
}

/** Returns {@link commonHeaders} and the user of the page. The service rejects requests for another user. */
export function pageHeaders(): Record<string, string> {
  return { ...commonHeaders(), ...(shown !== undefined && { 'user-id': shown.user.id }) };
}

/** Returns a query with the workspace of the page. A link needs it as a parameter, because a link sends no headers. */
export function queryOfLink(query: Readonly<Record<string, string>>): string {
  const workspaceId = workspaceOfPage();
  return new URLSearchParams({ ...query, ...(workspaceId !== undefined && { workspaceId }) }).toString();
}

export interface ApiRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The body, which is sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

/**
 * Calls this website's own API.
 *
 * @param path the path below `/api`, such as `/console/me`.
 * @throws ApiError
 */
export async function call<Answer>(path: string, request: ApiRequest = {}): Promise<Answer> {
  return (await send(path, request)).json() as Promise<Answer>;
}

/** Sends a request like {@link call} and returns the response with its headers. */
export async function send(path: string, request: ApiRequest = {}): Promise<Response> {
  const { body, headers, signal, query = {} } = request;
  const response = await fetchAnswer(addressOf({ path, query }), {
    method: request.method ?? 'GET',
    headers: {
      ...pageHeaders(),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
  rejectPage(response);
  if (response.ok) return response;
  const error = await readError(path, response);
  // The server has rejected the request. It is sent again after the confirmation.
  if (error.code === 'confirmation_required' && (await context?.onConfirmationRequired()) === true) {
    return send(path, request);
  }
  throw error;
}

/**
 * Sends a request and returns the response with its whole body.
 *
 * @throws ApiError with status 0 if there is no response, also after {@link timeLimitMs}.
 */
export async function fetchAnswer(url: string, { signal, ...request }: RequestInit): Promise<Response> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeLimitMs);
  try {
    const first = await takeFirstResponse(request.method, url)?.catch(() => undefined);
    const response =
      first ??
      (await fetch(url, {
        ...request,
        signal: AbortSignal.any([limit.signal, ...(signal ? [signal] : [])]),
      }));
    // The body arrives within the time limit, too.
    const body = await response.arrayBuffer();
    recordAnswer();
    return new Response(body.byteLength === 0 ? null : body, response);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    recordNoAnswer();
    if (!limit.signal.aborted) throw new ApiError(0, texts.common.unreachable);
    const message = request.method === 'GET' ? texts.common.noAnswer : texts.common.noAnswerToChange;
    throw new ApiError(0, message, [], 'no_answer');
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Requests a response whose body is read while it arrives. It has no time limit.
 *
 * @throws ApiError, with status 0 if there is no response.
 */
export async function openStream(
  path: string,
  { query = {}, headers, signal }: Pick<ApiRequest, 'query' | 'headers'> & { readonly signal: AbortSignal },
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const request = fetch(addressOf({ path, query }), { headers: { ...pageHeaders(), ...headers }, signal });
  const response = await request.catch((error: unknown) => {
    if (signal.aborted) throw error;
    recordNoAnswer();
    throw new ApiError(0, texts.common.unreachable);
  });
  rejectPage(response);
  if (!response.ok || response.body === null) throw await readError(path, response);
  return response.body;
}

/**
 * Checks that a response is not a page, such as the sign-in page of a network. The service sends none.
 *
 * @throws ApiError with status 0.
 */
export function rejectPage({ ok, headers }: Response): void {
  if (ok && headers.get('content-type')?.startsWith('text/html') === true) {
    throw new ApiError(0, texts.common.notOfServer);
  }
}

/** Returns the error of a response, and calls {@link ClientContext} if the session, the workspace or the role may have changed. */
export async function readError(path: string, response: Response): Promise<ApiError> {
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
  const isUnauthenticated = response.status === 401;
  const isOfAccount = path.startsWith('/auth/');
  if (isUnauthenticated && !isOfAccount) context?.onSignedOut();
  if (problem.type === 'urn:leads:error:unknown_workspace') context?.onWorkspaceLost();
  // The account endpoints also reject a wrong password with 401.
  const isRefused = problem.type === 'urn:leads:error:forbidden' || (isUnauthenticated && isOfAccount);
  // Not for the request that `onRefused` repeats, because it would be repeated without an end.
  if (isRefused && path !== meRequest.path) context?.onRefused();
  const fields = (problem.errors ?? []).map(({ pointer, parameter, header, detail }) => ({
    field: pointer === undefined ? (parameter ?? header ?? '') : nameOf(pointer),
    reason: detail,
  }));
  return new ApiError(
    response.status,
    // A proxy in front of the service sends no problem.
    problem.detail ?? problem.title ?? texts.common.errors.ofStatus(response.status),
    fields,
    problem.type?.split(':').at(-1),
    problem.detail !== undefined,
    Number(response.headers.get('retry-after')) || undefined,
  );
}

/** Returns the field of a JSON pointer: `allowedOrigins` for `#/allowedOrigins/0`. */
function nameOf(pointer: string): string {
  return decodeURIComponent(pointer.slice(2).split('/', 1)[0] ?? '')
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
}

/** Returns the errors of a form by field, each as a sentence. Empty if the error names no field. */
export function fieldErrorsOf(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(
    error.fields.map(({ field, reason }) => [field, reason.charAt(0).toUpperCase() + reason.slice(1)]),
  );
}

/** Returns the cursor from the link to the next page (RFC 8288), or `undefined` on the last page. */
export function nextCursorOf({ headers }: Response): string | undefined {
  const target = /<([^>]*)>;\s*rel="next"/.exec(headers.get('link') ?? '')?.[1];
  if (target === undefined) return undefined;
  return new URL(target, location.origin).searchParams.get('cursor') ?? undefined;
}
