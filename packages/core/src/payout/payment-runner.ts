import { BackgroundLoop } from '../background/background-loop.ts';
import type { PaymentStore } from './payment-store.ts';

/** The leads of one transaction. A larger transaction would delay the changes of single leads. */
const batchSize = 200;
const idleMs = 2_000;
const retryMs = { min: 500, max: 30_000 };

/** Marks the leads of payments as Paid, and those of cancellations as Approved, until it is disposed. Any process may run one. */
export class PaymentRunner implements AsyncDisposable {
  readonly #loop: BackgroundLoop;
  #oldestStepAt: Date | undefined;

  /** @param onError called for each failure of a payment with its id, and once when the database becomes unavailable. */
  constructor(
    payments: Pick<PaymentStore, 'step' | 'oldestStepAt'>,
    onError: (error: unknown, paymentId?: string) => void,
  ) {
    this.#loop = new BackgroundLoop({
      step: async () => {
        const startMs = performance.now();
        const done = await payments.step(batchSize);
        if (done?.error !== undefined) onError(done.error, done.paymentId);
        this.#oldestStepAt = await payments.oldestStepAt();
        // Postgres has half of the time for requests.
        return done === undefined ? idleMs : performance.now() - startMs;
      },
      onError: (error) => onError(error),
      retryMs,
    });
  }

  /**
   * How long the payment in progress whose last step is the oldest has made no progress, in seconds; 0 if none is in progress.
   * It also grows while the database is unavailable.
   */
  get stalledSeconds(): number {
    return this.#oldestStepAt === undefined ? 0 : (Date.now() - this.#oldestStepAt.getTime()) / 1000;
  }

  /** Starts a new payment without a pause. */
  wake(): void {
    this.#loop.wake();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
