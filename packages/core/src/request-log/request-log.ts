import { BackgroundLoop } from '../background/background-loop.ts';
import { isOutage } from '../errors.ts';
import { newId } from '../uuid.ts';
import {
  type LoggedRequest,
  type LoggedService,
  type RequestBatch,
  type RequestCounts,
  type RequestLogStore,
  utcDay,
} from './request-log-store.ts';

/** The pause between two writes, in milliseconds. */
const intervalMs = 5_000;
/** The most requests of one write that are listed singly. Further ones are only counted. */
export const maxListed = {
  /** Of a key: as many that succeeded, and as many that failed. A flood of failures hides no success. */
  perKey: 50,
  /** Of a workspace, so that one with many keys leaves room for others. */
  perWorkspace: 500,
  total: 5_000,
} as const;
/** The most keys whose requests are counted until they are written. */
export const maxKeys = 20_000;

/** The API key of a request. */
export interface RequestKey {
  readonly workspaceId: string;
  readonly apiKeyId?: string | undefined;
}

/** A request after its response. */
export type AnsweredRequest = Pick<LoggedRequest, 'method' | 'route' | 'status' | 'code' | 'durationMs'>;

/** The requests of a key since the last write. */
type KeyUse = { -readonly [Count in keyof RequestCounts]: number };

/**
 * Collects the requests of API keys and writes them every few seconds, outside of requests. Memory is bounded: requests
 * above {@link maxListed} are only counted. Requests that are not yet written are lost when the process is killed.
 */
export class RequestLog implements AsyncDisposable {
  readonly #service: LoggedService;
  readonly #store: Pick<RequestLogStore, 'append'>;
  readonly #loop: BackgroundLoop;
  #uses = new Map<string, KeyUse>();
  #listed: Omit<LoggedRequest, 'id'>[] = [];
  /** The listed requests of each workspace that are not yet stored. */
  #listedOf = new Map<string, number>();
  /** The content of the next write. While the database is unavailable, it is kept. */
  #requests: LoggedRequest[] = [];
  /** By key and day. */
  #counts = new Map<string, RequestBatch['counts'][number]>();
  /** The numbers of requests since the start: listed singly, only counted, neither. */
  readonly totals = { listed: 0, counted: 0, lost: 0 };

  /** @param onError called once when a streak of failed writes begins. */
  constructor(
    service: LoggedService,
    store: Pick<RequestLogStore, 'append'>,
    onError: (error: unknown) => void,
  ) {
    this.#service = service;
    this.#store = store;
    this.#loop = new BackgroundLoop({
      step: () => this.#write(),
      onError,
      firstPauseMs: intervalMs,
      retryMs: intervalMs,
      hasFinalStep: true,
    });
  }

  /** Notes a request. It never throws and never waits. */
  note({ workspaceId, apiKeyId }: RequestKey, request: AnsweredRequest): void {
    if (apiKeyId === undefined) return;
    let use = this.#uses.get(apiKeyId);
    if (use === undefined) {
      if (this.#uses.size >= maxKeys) {
        this.totals.lost += 1;
        return;
      }
      use = { success: 0, clientErrors: 0, serverErrors: 0, unlisted: 0 };
      this.#uses.set(apiKeyId, use);
    }
    const { status } = request;
    if (status < 400) use.success += 1;
    else if (status < 500) use.clientErrors += 1;
    else use.serverErrors += 1;
    const ofKind = status < 400 ? use.success : use.clientErrors + use.serverErrors;
    if (ofKind > maxListed.perKey || !this.#reserve(workspaceId)) {
      use.unlisted += 1;
      this.totals.counted += 1;
      return;
    }
    this.totals.listed += 1;
    this.#listed.push({ ...request, apiKeyId, at: new Date(), service: this.#service });
  }

  /** Reserves room for one more request of a workspace. Returns false if there is none. */
  #reserve(workspaceId: string): boolean {
    const listed = this.#listedOf.get(workspaceId) ?? 0;
    if (listed >= maxListed.perWorkspace) return false;
    if (this.#requests.length + this.#listed.length >= maxListed.total) return false;
    this.#listedOf.set(workspaceId, listed + 1);
    return true;
  }

  async #write(): Promise<number> {
    this.#collect();
    if (this.#counts.size === 0) return intervalMs;
    const counts = [...this.#counts.values()];
    try {
      await this.#store.append({ requests: this.#requests, counts });
    } catch (error) {
      // In an outage, the next write retries. Its counts can be too high if the connection broke after the commit.
      if (isOutage(error)) throw error;
      this.totals.lost += counts.reduce((total, each) => total + numberOf(each), 0);
      this.#clear();
      throw error;
    }
    this.#clear();
    return intervalMs;
  }

  #clear(): void {
    this.#requests = [];
    this.#counts = new Map();
    this.#listedOf = new Map();
  }

  /** Moves the requests since the last write to the content of the next one. */
  #collect(): void {
    const day = utcDay(new Date());
    for (const [apiKeyId, use] of this.#uses) {
      const id = `${apiKeyId} ${day}`;
      const kept = this.#counts.get(id);
      if (kept === undefined && this.#counts.size >= maxKeys) this.totals.lost += numberOf(use);
      else this.#counts.set(id, { apiKeyId, day, ...(kept === undefined ? use : sum(kept, use)) });
    }
    for (const request of this.#listed) this.#requests.push({ id: newId(), ...request });
    this.#uses = new Map();
    this.#listed = [];
  }

  /** Writes the requests that are still pending. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}

const numberOf = ({ success, clientErrors, serverErrors }: RequestCounts) =>
  success + clientErrors + serverErrors;

function sum(a: RequestCounts, b: RequestCounts): RequestCounts {
  return {
    success: a.success + b.success,
    clientErrors: a.clientErrors + b.clientErrors,
    serverErrors: a.serverErrors + b.serverErrors,
    unlisted: a.unlisted + b.unlisted,
  };
}
