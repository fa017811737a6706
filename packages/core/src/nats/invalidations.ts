import { Value } from 'typebox/value';
import { type Announce, Invalidation } from '../invalidation.ts';
import type { Broker } from './broker.ts';

const subject = 'cache.invalidate';

/** Tells all instances of both services, this one too, what they must not go on with. Who is not there is not told. */
export class Invalidations {
  readonly #broker: Pick<Broker, 'broadcast' | 'subscribe'>;
  readonly #onError: (error: unknown) => void;

  constructor(broker: Pick<Broker, 'broadcast' | 'subscribe'>, onError: (error: unknown) => void) {
    this.#broker = broker;
    this.#onError = onError;
  }

  readonly announce: Announce = async (invalidation) => {
    try {
      await this.#broker.broadcast(subject, JSON.stringify(invalidation));
    } catch (error) {
      this.#onError(error);
    }
  };

  /** Hears of every change from now on, for as long as the broker is open. */
  subscribe(listener: (invalidation: Invalidation) => void): void {
    this.#broker.subscribe(subject, (text) => {
      let said: unknown;
      try {
        said = JSON.parse(text);
      } catch (error) {
        this.#onError(error);
        return;
      }
      // Of a later version, it may be of a kind that is not known yet.
      if (Value.Check(Invalidation, said)) listener(said);
    });
  }
}
