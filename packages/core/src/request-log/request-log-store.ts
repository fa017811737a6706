/** The services that log requests. */
export const loggedServices = ['crm', 'intake'] as const;
export type LoggedService = (typeof loggedServices)[number];

/** The classes of responses: below 400, from 400 to 499, from 500. */
export const statusClasses = ['success', 'client_error', 'server_error'] as const;
type StatusClass = (typeof statusClasses)[number];

/** A request with an API key. It holds no content, no address of a person and no header. */
export interface LoggedRequest {
  /** A UUID of version 7. */
  readonly id: string;
  readonly apiKeyId: string;
  readonly at: Date;
  readonly service: LoggedService;
  readonly method: string;
  /** The route's pattern, never a URL. */
  readonly route: string;
  readonly status: number;
  /** The code of the error that the response holds. */
  readonly code?: string | undefined;
  /** From the headers of the request to the end of the response, in milliseconds. */
  readonly durationMs: number;
}

/** The requests of an API key on one day. */
export interface RequestCounts {
  readonly success: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  /** The requests that are counted above and missing from the log. */
  readonly unlisted: number;
}

export type UsageDay = RequestCounts & {
  /** A UTC day, `2026-01-31`. */
  readonly day: string;
};

/** The requests and counts that one write adds. */
export interface RequestBatch {
  readonly requests: readonly LoggedRequest[];
  readonly counts: readonly (UsageDay & { readonly apiKeyId: string })[];
}

/** The key whose requests are read. @param userId the member that it must belong to; any member if absent. */
export interface KeyOfWorkspace {
  readonly workspaceId: string;
  readonly apiKeyId: string;
  readonly userId?: string | undefined;
}

interface RequestFilter {
  readonly status?: StatusClass | undefined;
  readonly service?: LoggedService | undefined;
}

/** The store of the request log. */
export interface RequestLogStore {
  /** Adds requests and counts. Requests that are stored already and requests of deleted keys are skipped. */
  append(batch: RequestBatch): Promise<void>;
  /** Whether a workspace, or a member of it, has the key. */
  hasKey(key: KeyOfWorkspace): Promise<boolean>;
  /** Lists matching requests among the newest of a key, newest first. @param after the position before the first. */
  list(
    key: KeyOfWorkspace,
    filter: RequestFilter,
    limit: number,
    after?: Pick<LoggedRequest, 'at' | 'id'>,
  ): Promise<LoggedRequest[]>;
  /** Lists the days with requests of a key since a UTC day, oldest first. */
  usage(key: KeyOfWorkspace, sinceDay: string): Promise<UsageDay[]>;
  /**
   * Deletes the oldest requests before a time, and the counts of the days before a UTC day.
   *
   * @param max the maximum number of requests.
   * @returns the number of requests deleted.
   */
  dropBefore(requestsBefore: Date, countsBeforeDay: string, max: number): Promise<number>;
}

/** Returns the UTC day of a time, `2026-01-31`. */
export const utcDay = (time: Date): string => time.toISOString().slice(0, 10);
