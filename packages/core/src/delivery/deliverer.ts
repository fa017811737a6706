import { setMaxListeners } from 'node:events';
import { BackgroundLoop, untilWoken } from '../background/background-loop.ts';
import { BatchSize } from '../background/batch-size.ts';
import { ProcessorWait } from '../background/processor-wait.ts';
import type { LeadEvent } from '../event/lead-event.schema.ts';
import { deliveryPauseMs } from './delivery-pause.ts';
import { testEventType } from './delivery.schema.ts';
import type { AttemptOutcome, ClaimedDelivery, DeliveryBacklog, DeliveryQueue } from './delivery-queue.ts';
import { EndpointPace } from './endpoint-pace.ts';
import { webhookMessageId } from './message-id.ts';
import { type PlannedRequest, planPostback } from './plan-postback.ts';
import { retryPauseMs } from './retry-schedule.ts';
import { SealedTextError, type SecretBox } from './secret-box.ts';
import { type Sender, SendError } from './send-request.ts';
import { fixedWebhookHeaders, signWebhook } from './webhook-signature.ts';

/** The maximum of concurrent requests of a process. One workspace gets half of them at most. */
const maxRunning = 256;
/** The time after which another worker takes over a claimed delivery. An attempt takes 15 s at most. */
const leaseMs = 60_000;
/** How long the disposal waits for requests in progress before it cancels them, in milliseconds. */
const drainMs = 5_000;
/**
 * The bounds of the statements whose deliveries are planned at once. One statement may have changed thousands of leads. Their
 * deliveries are inserted at once, and would delay requests for longer than `longestMs`.
 */
const planSize = { min: 1, max: 50, longestMs: 50 };
/** Pauses in milliseconds: while nothing is to be planned, while nothing is due, and while there is no housekeeping. */
const planMs = 100;
const idleMs = 500;
const housekeepingMs = 10_000;
/** The number of rows that one statement of the housekeeping changes. */
const housekeepingRows = 2_000;
const retryMs = { min: 250, max: 5_000 };
/** The pause before the next attempt to open a secret that no key opens. */
const unreadableMs = 5 * 60_000;
/** How long ended deliveries are kept. */
const logDays = 30;
/** The length of the kept part of an answer, in characters. */
const answerLength = 1_024;

/** Reports of a deliverer, for the log. */
export interface DelivererEvents {
  /** Called for failures of the database. Of a streak, it may be called once only. */
  readonly onError: (error: unknown) => void;
  /** Called for each endpoint that was disabled by its receiver, or because it failed for too long. */
  readonly onDisabled: (endpointId: string) => void;
  /** Called for a secret that cannot be opened. */
  readonly onUnreadable: (endpointId: string, error: unknown) => void;
  /** Called with the duration of each attempt, in milliseconds. */
  readonly onAttempt: (durationMs: number) => void;
}

/** Sends the deliveries of all workspaces until it is disposed. Any number of processes may run one. */
export class Deliverer implements AsyncDisposable {
  readonly #queue: DeliveryQueue;
  readonly #sender: Pick<Sender, 'send'>;
  readonly #secrets: Pick<SecretBox, 'open' | 'hash'>;
  readonly #events: DelivererEvents;
  readonly #pace = new EndpointPace(maxRunning);
  readonly #planSize = new BatchSize(planSize);
  readonly #processorWait: Pick<ProcessorWait, 'share'>;
  readonly #cancel = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #planner: BackgroundLoop;
  readonly #dispatcher: BackgroundLoop;
  readonly #recorder: BackgroundLoop;
  readonly #housekeeper: BackgroundLoop;
  #outcomes: AttemptOutcome[] = [];
  /** Whether the loop waits for work. Only then, new work ends its pause. */
  #isDispatcherIdle = false;
  #isRecorderIdle = false;
  /** For how long the oldest change waited for its planning, and the last claimed deliveries then waited, in seconds. */
  #late = { changes: 0, deliveries: 0 };
  #backlog: DeliveryBacklog = { waiting: 0, lagSeconds: 0 };
  #counts = { delivered: 0, failed: 0 };

  constructor(
    queue: DeliveryQueue,
    {
      sender,
      secrets,
      processorWait = new ProcessorWait(),
    }: {
      sender: Pick<Sender, 'send'>;
      secrets: Pick<SecretBox, 'open' | 'hash'>;
      processorWait?: Pick<ProcessorWait, 'share'>;
    },
    events: DelivererEvents,
  ) {
    this.#queue = queue;
    this.#sender = sender;
    this.#secrets = secrets;
    this.#processorWait = processorWait;
    this.#events = events;
    const { onError } = events;
    // Each request listens to it. Node would report a leak from the 11th listener on.
    setMaxListeners(maxRunning, this.#cancel.signal);
    this.#recorder = new BackgroundLoop({ step: () => this.#record(), onError, retryMs, hasFinalStep: true });
    this.#dispatcher = new BackgroundLoop({ step: () => this.#dispatch(), onError, retryMs });
    this.#planner = new BackgroundLoop({ step: () => this.#plan(), onError, retryMs });
    this.#housekeeper = new BackgroundLoop({ step: () => this.#keepHouse(), onError, retryMs });
  }

  /** The successful and the failed attempts of this process. */
  get counts(): { readonly delivered: number; readonly failed: number } {
    return this.#counts;
  }

  /** The requests in progress. */
  get running(): number {
    return this.#pace.running;
  }

  /** The backlog of all processes, some seconds ago. */
  get backlog(): DeliveryBacklog {
    return this.#backlog;
  }

  /** Returns the pause after a step that began at a time. */
  #pauseAfter(startMs: number): number {
    return deliveryPauseMs(performance.now() - startMs, {
      waitShare: this.#processorWait.share(),
      lateSeconds: this.#late.changes + this.#late.deliveries,
    });
  }

  async #plan(): Promise<number> {
    const startMs = performance.now();
    const { statements, lateSeconds } = await this.#planSize.adjust(() =>
      this.#queue.plan(this.#planSize.current),
    );
    this.#late.changes = lateSeconds;
    if (statements === 0) return planMs;
    if (this.#isDispatcherIdle) this.#dispatcher.wake();
    return this.#pauseAfter(startMs);
  }

  async #dispatch(): Promise<number> {
    this.#isDispatcherIdle = false;
    const startMs = performance.now();
    const room = this.#pace.share(await this.#queue.dueEndpoints());
    if (room.size === 0) {
      this.#late.deliveries = 0;
      if (this.running > 0) return this.#pauseAfter(startMs);
      this.#isDispatcherIdle = true;
      return idleMs;
    }
    const claimed = await this.#queue.claim(room, leaseMs);
    this.#late.deliveries = medianOf(claimed.map(({ lateSeconds }) => lateSeconds));
    for (const { endpointId: id, workspaceId } of claimed) this.#pace.begin({ id, workspaceId });
    const begins: (() => Promise<void>)[] = [];
    // One workspace after the other, so that many workspaces do not use up the connections of the process.
    for (const workspaceId of new Set(claimed.map((delivery) => delivery.workspaceId))) {
      const ofWorkspace = claimed.filter((delivery) => delivery.workspaceId === workspaceId);
      begins.push(...(await this.#readEvents(workspaceId, ofWorkspace)));
    }
    for (const begin of begins) {
      const sending = begin().finally(() => this.#sending.delete(sending));
      this.#sending.add(sending);
    }
    return this.#pauseAfter(startMs);
  }

  /**
   * Reads the events of the deliveries of a workspace. If they cannot be read, the deliveries are due again.
   *
   * @returns functions that send the deliveries.
   */
  async #readEvents(
    workspaceId: string,
    claimed: readonly ClaimedDelivery[],
  ): Promise<(() => Promise<void>)[]> {
    const refs = claimed.flatMap(({ leadId, version }) =>
      leadId === undefined || version === undefined ? [] : { leadId, version },
    );
    let eventOf: (leadId: string, version: number) => LeadEvent | undefined;
    try {
      eventOf = await this.#queue.readEvents(workspaceId, refs);
    } catch (error) {
      this.#events.onError(error);
      for (const delivery of claimed) this.#release(delivery, retryMs.max);
      return [];
    }
    return claimed.flatMap((delivery) => {
      const { leadId, version = 1 } = delivery;
      const event = leadId === undefined ? undefined : eventOf(leadId, version);
      // The lead was erased, and its deliveries with it.
      if (leadId !== undefined && event === undefined) {
        this.#pace.end(delivery.endpointId, true);
        return [];
      }
      return () => this.#sendEvent(delivery, event);
    });
  }

  /** @param event undefined for a test. */
  async #sendEvent(delivery: ClaimedDelivery, event: LeadEvent | undefined): Promise<void> {
    const { id, endpointId, leaseId, attempts, url, postback } = delivery;
    if (postback !== undefined) {
      let plan: ReturnType<typeof planPostback>;
      try {
        plan = planPostback({ ...delivery, postback }, event, this.#secrets);
      } catch (error) {
        // Only templates that can be rendered are stored.
        this.#events.onError(error);
        this.#release(delivery, unreadableMs);
        return;
      }
      if ('outcome' in plan) this.#finish({ id, endpointId, leaseId, attempts, ...plan.outcome });
      else await this.#send(delivery, plan);
      return;
    }
    const body = JSON.stringify(event ?? testEventOf(delivery));
    let headers: Record<string, string>;
    try {
      headers = this.#headersOf(delivery, body);
    } catch (error) {
      if (!(error instanceof SealedTextError)) throw error;
      this.#events.onUnreadable(endpointId, error);
      this.#release(delivery, unreadableMs);
      return;
    }
    await this.#send(delivery, { request: { url, method: 'POST', headers, body } });
  }

  async #send(delivery: ClaimedDelivery, { request, log }: PlannedRequest): Promise<void> {
    const { id, endpointId, leaseId, postback } = delivery;
    const attempts = delivery.attempts + 1;
    const finish = (outcome: Omit<AttemptOutcome, 'id' | 'endpointId' | 'leaseId' | 'attempts'>) =>
      this.#finish({ id, endpointId, leaseId, attempts, ...outcome });
    const retry = (retryAfterSeconds?: number) => {
      const pauseMs = retryPauseMs(attempts, retryAfterSeconds === undefined ? {} : { retryAfterSeconds });
      return pauseMs === undefined
        ? { state: 'failed' as const }
        : { state: 'waiting' as const, retryMs: pauseMs };
    };
    try {
      const { signal } = this.#cancel;
      const answer = await this.#sender.send({ ...request, signal });
      const { status, durationMs, retryAfterSeconds, bodyStart } = answer;
      const isAccepted = status >= 200 && status < 300;
      const isSuccess = isAccepted && bodyStart.includes(postback?.answerContains ?? '');
      // A receiver of webhooks answers 410 to get no more deliveries (Standard Webhooks 1.0, "Status codes").
      const isDisableRequested = postback === undefined && (status === 410 || answer.isDisableRequested);
      finish({
        ...(isSuccess
          ? { state: 'delivered' }
          : isDisableRequested
            ? { state: 'failed' }
            : retry(retryAfterSeconds)),
        attempt: {
          isSuccess,
          durationMs,
          statusCode: status,
          ...(!isSuccess && { answer: beginningOf(log?.maskAnswer(bodyStart) ?? bodyStart) }),
          ...(isAccepted && !isSuccess && { error: 'unexpected_answer' }),
          isDisableRequested,
          request: log?.request,
          ...(isSuccess && { requestHash: log?.requestHash }),
        },
      });
    } catch (error) {
      if (this.#cancel.signal.aborted) {
        this.#release(delivery, 0);
        return;
      }
      const { code, durationMs } = error instanceof SendError ? error : { code: 'failed', durationMs: 0 };
      finish({
        ...retry(),
        attempt: {
          isSuccess: false,
          durationMs,
          error: code,
          isDisableRequested: false,
          request: log?.request,
        },
      });
    }
  }

  #headersOf(delivery: ClaimedDelivery, body: string): Record<string, string> {
    const { endpointId, secret, previousSecret, headers } = delivery;
    const open = (sealed: string) => this.#secrets.open(sealed, endpointId);
    const secrets = [secret, previousSecret].flatMap((sealed) => (sealed === undefined ? [] : open(sealed)));
    const added = headers === undefined ? {} : (JSON.parse(open(headers)) as Record<string, string>);
    return {
      ...added,
      ...fixedWebhookHeaders,
      ...signWebhook({ id: webhookMessageId(delivery), timestamp: new Date(), body, secrets }),
    };
  }

  #finish(outcome: AttemptOutcome): void {
    const isSuccess = outcome.attempt?.isSuccess ?? true;
    this.#pace.end(outcome.endpointId, isSuccess);
    if (outcome.attempt !== undefined) {
      this.#counts[isSuccess ? 'delivered' : 'failed'] += 1;
      this.#events.onAttempt(outcome.attempt.durationMs);
    }
    this.#outcomes.push(outcome);
    if (this.#isRecorderIdle) this.#recorder.wake();
  }

  /** Ends a claim without an attempt. */
  #release({ id, endpointId, leaseId, attempts }: ClaimedDelivery, retryAfterMs: number): void {
    this.#finish({ id, endpointId, leaseId, state: 'waiting', attempts, retryMs: retryAfterMs });
  }

  async #record(): Promise<number> {
    const outcomes = this.#outcomes;
    this.#isRecorderIdle = outcomes.length === 0;
    if (this.#isRecorderIdle) return untilWoken;
    this.#outcomes = [];
    const startMs = performance.now();
    try {
      const disabled = await this.#queue.complete(outcomes);
      for (const id of disabled) this.#events.onDisabled(id);
      // It creates the notices about them.
      if (disabled.length > 0) this.#housekeeper.wake();
    } catch (error) {
      this.#outcomes = [...outcomes, ...this.#outcomes];
      throw error;
    }
    // Outcomes of the pause share the next statement.
    return this.#pauseAfter(startMs);
  }

  async #keepHouse(): Promise<number> {
    const startMs = performance.now();
    await this.#queue.createNotices();
    const skipped = await this.#queue.skipDisabled(housekeepingRows);
    const before = new Date(Date.now() - logDays * 86_400_000);
    const deleted = await this.#queue.deleteOld(before, housekeepingRows);
    // Last, because it reads all waiting deliveries: it can take longer than a statement may.
    this.#backlog = await this.#queue.backlog();
    return skipped + deleted > 0 ? this.#pauseAfter(startMs) : housekeepingMs;
  }

  /** Claims nothing more, waits some seconds for the requests in progress, cancels the others, and stores the results. */
  async [Symbol.asyncDispose](): Promise<void> {
    const loops = [this.#planner, this.#housekeeper, this.#dispatcher];
    await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()));
    const timer = setTimeout(() => this.#cancel.abort(), drainMs);
    await Promise.all(this.#sending);
    clearTimeout(timer);
    await this.#recorder[Symbol.asyncDispose]();
  }
}

/** Returns the event of a test. It has no lead. */
function testEventOf({ id, workspaceId }: ClaimedDelivery): object {
  return {
    specversion: '1.0',
    id,
    source: `/workspaces/${workspaceId}`,
    type: testEventType,
    time: new Date().toISOString(),
    datacontenttype: 'application/json',
    data: {},
  };
}

/** Returns the beginning of an answer as Postgres can store it: without NUL, and without half a surrogate pair. */
function beginningOf(text: string): string {
  return text.replaceAll('\0', '').slice(0, answerLength).toWellFormed();
}

/** Returns the median, which a few deliveries of failing receivers do not change; 0 without values. */
function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
