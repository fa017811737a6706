import { LeadsError } from '@leads/core/errors';
import { insertEach, type LeadSink, type LeadStore, type LeadToInsert } from '@leads/core/lead';

export interface BatchBounds {
  /** Leads in one batch. */
  readonly rows: number;
  /** Batches on their way to the database at once. */
  readonly inFlight: number;
  /** For how long those on their way are waited for before another sets out that is not full, in milliseconds. */
  readonly patienceMs: number;
  /** Leads that wait, and the characters of their texts. */
  readonly waitingRows: number;
  readonly waitingCharacters: number;
  /** How long a lead may wait for its batch, in milliseconds. */
  readonly waitMs: number;
}

/*
 * One batch at a time is the fastest: with 64 connections on 2 cores 9.2 thousand leads a second, and 9.0, 8.5 with two
 * and three at once (medians of 3 rounds of 4 s; CPU a lead 72, 82 and 86 us here, 62, 67 and 70 us in Postgres), since
 * what a batch costs is shared by twice or thrice as many. But one that is held up, by a lock or a slow disk, must not
 * hold up all others: after ten times of what one usually takes, another sets out.
 */
const defaultBounds: BatchBounds = {
  rows: 500,
  inFlight: 4,
  patienceMs: 50,
  waitingRows: 5_000,
  waitingCharacters: 32 * 1024 * 1024,
  waitMs: 2_000,
};

/** How often waiting leads are looked at whether they have waited too long, in milliseconds. */
const checkMs = 250;

interface Waiting {
  readonly lead: LeadToInsert;
  readonly characters: number;
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** What goes through a batcher. */
export interface BatchObserver {
  /** A batch sets out, after its leads waited so long, in milliseconds each. */
  batch(waitsMs: readonly number[]): void;
  /** A lead was turned away: there was no room, or it waited too long. */
  shed(): void;
}

/**
 * Stores leads of concurrent requests together, in one statement and one commit: a batch forms while others are on
 * their way, so that a lone lead waits for nobody. Each is answered when it is committed.
 */
export class LeadBatcher implements LeadSink, AsyncDisposable {
  readonly #leads: Pick<LeadStore, 'insert'>;
  readonly #bounds: BatchBounds;
  readonly #observer: BatchObserver | undefined;
  #waiting: Waiting[] = [];
  #waitingCharacters = 0;
  #inFlight = 0;
  #isScheduled = false;
  #patience: NodeJS.Timeout | undefined;
  #check: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;

  constructor(
    leads: Pick<LeadStore, 'insert'>,
    options: { bounds?: Partial<BatchBounds> | undefined; observer?: BatchObserver | undefined } = {},
  ) {
    this.#leads = leads;
    this.#bounds = { ...defaultBounds, ...options.bounds };
    this.#observer = options.observer;
  }

  /** How many leads wait for a batch, and how many batches are on their way. */
  get load(): { readonly waiting: number; readonly inFlight: number } {
    return { waiting: this.#waiting.length, inFlight: this.#inFlight };
  }

  /** @throws LeadsError `unavailable` at once where there is no room. To be asked before a request costs anything. */
  checkRoom(): void {
    const { waitingRows, waitingCharacters } = this.#bounds;
    if (this.#waiting.length < waitingRows && this.#waitingCharacters < waitingCharacters) return;
    this.#observer?.shed();
    throw overloaded();
  }

  take(lead: LeadToInsert): Promise<void> {
    return new Promise((resolve, reject) => {
      this.checkRoom();
      const characters = charactersOf(lead);
      this.#waiting.push({ lead, characters, since: performance.now(), resolve, reject });
      this.#waitingCharacters += characters;
      this.#schedule();
    });
  }

  /** Once the requests that came in the same turn of the event loop are there as well. */
  #schedule(isPatient = true): void {
    if (this.#isScheduled) return;
    const { inFlight, rows, patienceMs } = this.#bounds;
    if (this.#inFlight >= inFlight) {
      // No batch may come back for long, and what waits behind it is to be told in time.
      this.#check ??= setInterval(() => this.#dropExpired(), checkMs).unref();
      return;
    }
    if (isPatient && this.#inFlight > 0 && this.#waiting.length < rows) {
      this.#patience ??= setTimeout(() => {
        this.#patience = undefined;
        this.#schedule(false);
      }, patienceMs);
      return;
    }
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#send();
    });
  }

  #send(): void {
    this.#dropExpired();
    if (this.#waiting.length === 0) {
      if (this.#inFlight === 0) this.#onIdle?.();
      return;
    }
    clearTimeout(this.#patience);
    this.#patience = undefined;
    const batch = this.#waiting.splice(0, this.#bounds.rows);
    for (const { characters } of batch) this.#waitingCharacters -= characters;
    if (this.#observer !== undefined) {
      const now = performance.now();
      this.#observer.batch(batch.map(({ since }) => now - since));
    }
    this.#inFlight += 1;
    void this.#store(batch).finally(() => {
      this.#inFlight -= 1;
      if (this.#waiting.length > 0) this.#schedule();
      else if (this.#inFlight === 0) this.#onIdle?.();
    });
    if (this.#waiting.length > 0) this.#schedule();
  }

  async #store(batch: readonly Waiting[]): Promise<void> {
    try {
      await insertEach(this.#leads, batch, {
        stored: (items) => items.forEach(({ resolve }) => resolve()),
        rejected: ({ reject }, cause) =>
          reject(
            new LeadsError('invalid_input', {
              fields: [{ at: 'body', reason: 'The body holds something that cannot be stored' }],
              cause,
            }),
          ),
      });
    } catch (error) {
      // Those that are stored have been told so.
      for (const { reject } of batch) reject(error);
    }
  }

  /** What waited too long is answered so, and not stored. The oldest are the first. */
  #dropExpired(): void {
    const oldest = performance.now() - this.#bounds.waitMs;
    let expired = 0;
    for (const { since, characters, reject } of this.#waiting) {
      if (since > oldest) break;
      expired += 1;
      this.#waitingCharacters -= characters;
      this.#observer?.shed();
      reject(overloaded());
    }
    if (expired > 0) this.#waiting.splice(0, expired);
    if (this.#waiting.length === 0) {
      clearInterval(this.#check);
      this.#check = undefined;
    }
  }

  /** Waits until all that was taken is stored or refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#waiting.length === 0 && this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }
}

function overloaded(): LeadsError {
  return new LeadsError('unavailable', { retryAfterSeconds: 1 });
}

/** About how much memory a lead takes: the texts that a caller may make long. */
function charactersOf({ name, phone, address, s1, lpName, extra }: LeadToInsert): number {
  return (
    name.length +
    phone.length +
    (address?.length ?? 0) +
    (s1?.length ?? 0) +
    (lpName?.length ?? 0) +
    (extra?.length ?? 0)
  );
}
