import { setTimeout as sleep } from 'node:timers/promises';
import { LeadsError } from '@leads/core/errors';
import { FairShares, type UserOfWorkspace } from '@leads/core/limits';
import type { Server } from '@leads/http/server/create-server';
import { onResponseEnd } from '@leads/http/server/response-end';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the response has no end, such as a stream of events. */
    isEndless?: boolean;
  }
}

type TransferKind = 'export' | 'import';

/** The limits of exports and imports in this process, which may be of any length. */
export interface TransferLimits {
  /**
   * Begins a transfer of a user.
   *
   * @returns a function that ends the transfer.
   * @throws LeadsError `too_many_requests` if the workspace or its publishers have their share of this kind;
   *   `unavailable` if the maximum of this kind is reached.
   */
  begin(kind: TransferKind, user: UserOfWorkspace): () => void;
  /** Pauses a transfer. While other requests are in progress, the pause lasts up to {@link maxWaitMs}. */
  yieldToRequests(): Promise<void>;
  /** Aborted when the server closes: a transfer can take longer than the shutdown timeout. */
  readonly stopping: AbortSignal;
  /** Counts the requests of a server, and aborts the transfers when the server closes. */
  watch(app: Server): void;
}

/**
 * The most concurrent transfers. One workspace gets half of them at most. An export reads as fast as its client does,
 * which costs the database more than a page of the list. An import holds a database connection most of the time.
 */
const defaultMaximums: Readonly<Record<TransferKind, number>> = { export: 8, import: 8 };

/** The shortest pause of a transfer, and the interval at which it looks for other requests. */
const pauseMs = 2;
/** The longest pause of a transfer. */
const maxWaitMs = 50;

/** Creates the limits of one process. All routes that export or import share them. */
export function createTransferLimits(maximums = defaultMaximums): TransferLimits {
  const stopping = new AbortController();
  const running = {
    export: new FairShares(maximums.export, 'exports'),
    import: new FairShares(maximums.import, 'imports'),
  };
  let requests = 0;
  return {
    stopping: stopping.signal,
    begin: (kind, user) => running[kind].take(user),
    async yieldToRequests() {
      const until = performance.now() + maxWaitMs;
      // Pauses even without other requests, so that the next request finds an idle core and an idle database.
      do await sleep(pauseMs);
      while (requests > running.export.used + running.import.used && performance.now() < until);
    },
    watch(app) {
      app.addHook('preClose', async () => {
        stopping.abort(new LeadsError('unavailable', { message: 'The service is stopping' }));
      });
      app.addHook('onRequest', (request, reply, done) => {
        // Not counted: an endless response waits most of the time, and would slow down every export.
        if (request.routeOptions.config.isEndless !== true) {
          requests += 1;
          onResponseEnd(reply, () => (requests -= 1));
        }
        done();
      });
    },
  };
}
