import { Value } from 'typebox/value';
import { type BroadcastInvalidation, Invalidation } from '../invalidation.ts';
import type { Broker } from './broker.ts';

const subject = 'cache.invalidate';

/** Broadcasts invalidations to all connected instances of both services, including this one. */
export class Invalidations {
  readonly #broker: Pick<Broker, 'broadcast' | 'subscribe'>;
  readonly #onError: (error: unknown) => void;

  constructor(broker: Pick<Broker, 'broadcast' | 'subscribe'>, onError: (error: unknown) => void) {
    this.#broker = broker;
    this.#onError = onError;
  }

  readonly broadcast: BroadcastInvalidation = async (invalidation) => {
    try {
      await this.#broker.broadcast(subject, JSON.stringify(invalidation));
    } catch (error) {
      this.#onError(error);
    }
  };

  /** Calls the listener for every change from now on, until the broker is closed. */
  subscribe(listener: (invalidation: Invalidation) => void): void {
    this.#broker.subscribe(subject, (text) => {
      let message: unknown;
      try {
        message = JSON.parse(text);
      } catch (error) {
        this.#onError(error);
        return;
      }
      // A later version may send kinds that this one does not know.
      if (Value.Check(Invalidation, message)) listener(message);
    });
  }
}
