import type { Problem } from '@leads/core/error-schema';
import { texts } from '../texts/index.ts';

/** What is wrong with one field of what was sent. */
export interface FieldFault {
  /** The field's name: that of a body's member, a parameter or a header. */
  readonly field: string;
  /** Goes on from the name: "must not be empty". */
  readonly reason: string;
}

/** A request that was refused, or that nobody answered (status 0). `message` is for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly fields: readonly FieldFault[];

  constructor(status: number, message: string, fields: readonly FieldFault[] = []) {
    super(message);
    this.status = status;
    this.fields = fields;
  }
}

/** What requests need of the website around them, and tell it. */
export interface Surroundings {
  /** The workspace that the page is for, once it is known: every request names it. */
  readonly workspaceId: () => string | undefined;
  /** Nobody is signed in any more. */
  readonly onSignedOut: () => void;
  /** The user is in another workspace than the page is for; nothing was done. */
  readonly onOtherWorkspace: () => void;
}

let surroundings: Surroundings | undefined;
export function askWithin(given: Surroundings): void {
  surroundings = given;
}

/** The workspace that the page is for, for a link: it sends no headers. */
export function workspaceOfPage(): string | undefined {
  return surroundings?.workspaceId();
}

/** What every request to this website's own API says, however it is sent. */
export function commonHeaders(): Record<string, string> {
  const workspaceId = workspaceOfPage();
  return {
    accept: 'application/problem+json, application/json;q=0.9',
    ...(workspaceId !== undefined && { 'workspace-id': workspaceId }),
  };
}

export interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

/**
 * Calls this website's own API.
 *
 * @param path below `/api`: `/console/me`.
 * @throws ApiError
 */
export async function call<Answer>(path: string, request: ApiRequest = {}): Promise<Answer> {
  return (await send(path, request)).json() as Promise<Answer>;
}

/** As {@link call}, for who needs the answer's headers. */
export async function send(path: string, request: ApiRequest = {}): Promise<Response> {
  const { body, headers, signal } = request;
  const query = new URLSearchParams(
    Object.entries(request.query ?? {}).filter((each): each is [string, string] => each[1] !== undefined),
  ).toString();
  let response: Response;
  try {
    response = await fetch(`/api${path}${query === '' ? '' : `?${query}`}`, {
      method: request.method ?? 'GET',
      headers: {
        ...commonHeaders(),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError(0, texts.common.unreachable);
  }
  if (response.ok) return response;
  throw await readRefusal(path, response);
}

/** Why a request to a path was refused; what that means for the whole website it is told. */
export async function readRefusal(path: string, response: Response): Promise<ApiError> {
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
  if (response.status === 401 && path.startsWith('/console/')) surroundings?.onSignedOut();
  if (problem.type === 'urn:leads:error:other_workspace') surroundings?.onOtherWorkspace();
  const fields = (problem.errors ?? []).map(({ pointer, parameter, header, detail }) => ({
    field: pointer === undefined ? (parameter ?? header ?? '') : nameOf(pointer),
    reason: detail,
  }));
  return new ApiError(response.status, problem.detail ?? problem.title ?? response.statusText, fields);
}

/** `#/allowedOrigins/0` is about `allowedOrigins`. */
function nameOf(pointer: string): string {
  return decodeURIComponent(pointer.slice(2).split('/', 1)[0] ?? '')
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
}

/** The faults of an error by field, each a sentence: what forms take. Empty where it names none. */
export function faultsOf(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(
    error.fields.map(({ field, reason }) => [field, reason.charAt(0).toUpperCase() + reason.slice(1)]),
  );
}

/** The cursor in the address of the next page (RFC 8288); absent on the last. */
export function nextCursorOf({ headers }: Response): string | undefined {
  const target = /<([^>]*)>;\s*rel="next"/.exec(headers.get('link') ?? '')?.[1];
  if (target === undefined) return undefined;
  return new URL(target, location.origin).searchParams.get('cursor') ?? undefined;
}
