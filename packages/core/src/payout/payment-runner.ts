import { BackgroundLoop } from '../background/background-loop.ts';
import type { PaymentStore } from './payment-store.ts';

/** The leads of one transaction. A larger transaction would delay the changes of single leads. */
const batchSize = 200;
const idleMs = 2_000;
const retryMs = { min: 500, max: 30_000 };

/** Marks the leads of payments as Paid, and those of cancellations as Approved, until it is disposed. Any process may run one. */
export class PaymentRunner implements AsyncDisposable {
  readonly #loop: BackgroundLoop;

  /** @param onError called for each failure of a payment with its id, and once when the database becomes unavailable. */
  constructor(payments: Pick<PaymentStore, 'step'>, onError: (error: unknown, paymentId?: string) => void) {
    this.#loop = new BackgroundLoop({
      step: async () => {
        const startMs = performance.now();
        const done = await payments.step(batchSize);
        if (done?.error !== undefined) onError(done.error, done.paymentId);
        // Postgres has half of the time for requests.
        return done === undefined ? idleMs : performance.now() - startMs;
      },
      onError: (error) => onError(error),
      retryMs,
    });
  }

  /** Starts a new payment without a pause. */
  wake(): void {
    this.#loop.wake();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#loop[Symbol.asyncDispose]();
  }
}
