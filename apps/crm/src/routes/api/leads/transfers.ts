import { setTimeout as sleep } from 'node:timers/promises';
import { LeadsError } from '@leads/core/errors';
import type { Server } from '@leads/http/server/create-server';

/** Transfers of any length: how many are under way, and when they are to end. */
export interface Transfers {
  /**
   * Takes a place for one more.
   *
   * @returns gives it back.
   * @throws LeadsError `unavailable` where all are taken.
   */
  begin(): () => void;
  /** Waits for a moment, and while other requests are under way, for {@link maxWaitMs} at most. */
  giveWay(): Promise<void>;
  /** Aborted when the service stops: a transfer may take longer than there is time for. */
  readonly stopping: AbortSignal;
}

/** How long a transfer rests each time, and looks again whether others are there. */
const pauseMs = 2;
/** How long a transfer lets others go first, each time. */
const maxWaitMs = 50;

/** @param most transfers at once in this process. They share its database connections with all other requests. */
export function limitTransfers(app: Server, most: number): Transfers {
  const stopping = new AbortController();
  app.addHook('preClose', async () => {
    stopping.abort(new LeadsError('unavailable', { message: 'The service is stopping' }));
  });
  let underWay = 0;
  let requests = 0;
  app.addHook('onRequest', async (_request, reply) => {
    requests += 1;
    reply.raw.once('close', () => (requests -= 1));
  });
  return {
    stopping: stopping.signal,
    async giveWay() {
      const until = performance.now() + maxWaitMs;
      // Also where nobody is there yet: who comes finds a core and a database that are not busy all the time.
      do await sleep(pauseMs);
      while (requests > underWay && performance.now() < until);
    },
    begin() {
      if (underWay >= most) {
        throw new LeadsError('unavailable', { message: 'Too many transfers at once: try again later' });
      }
      underWay += 1;
      let isUnderWay = true;
      return () => {
        if (isUnderWay) underWay -= 1;
        isUnderWay = false;
      };
    },
  };
}
