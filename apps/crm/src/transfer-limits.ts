import { setTimeout as sleep } from 'node:timers/promises';
import { LeadsError } from '@leads/core/errors';
import type { Server } from '@leads/http/server/create-server';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the answer has no end of its own, as a stream of events has none. */
    isEndless?: boolean;
  }
}

type TransferKind = 'export' | 'import';

/** Limits the exports and imports of this process, which may be of any length. */
export interface TransferLimits {
  /**
   * Begins a transfer.
   *
   * @returns ends it.
   * @throws LeadsError `unavailable` when the maximum of its kind is reached.
   */
  begin(kind: TransferKind): () => void;
  /** Pauses a transfer, and while other requests are in progress for up to {@link maxWaitMs}. */
  giveWay(): Promise<void>;
  /** Aborted when the server closes: a transfer can take longer than the shutdown may. */
  readonly stopping: AbortSignal;
  /** Counts the requests of a server, and aborts the transfers when the server closes. */
  watch(app: Server): void;
}

/**
 * An export reads as fast as its client does, which costs the database more than any page.
 * An import holds a database connection for most of its time.
 */
const defaultMaximums: Readonly<Record<TransferKind, number>> = { export: 4, import: 4 };

/** The shortest pause of a transfer, and the interval at which it looks for other requests. */
const pauseMs = 2;
/** The longest pause of a transfer. */
const maxWaitMs = 50;

/** Builds the limits of one process: all routes that export or import share them, and its database connections. */
export function createTransferLimits(maximums = defaultMaximums): TransferLimits {
  const stopping = new AbortController();
  const running = { export: 0, import: 0 };
  let requests = 0;
  return {
    stopping: stopping.signal,
    begin(kind) {
      if (running[kind] >= maximums[kind]) {
        throw new LeadsError('unavailable', { message: 'Too many transfers at once: try again later' });
      }
      running[kind] += 1;
      let isRunning = true;
      return () => {
        if (isRunning) running[kind] -= 1;
        isRunning = false;
      };
    },
    async giveWay() {
      const until = performance.now() + maxWaitMs;
      // Pauses without other requests too: the next request finds a core and a database that are not saturated.
      do await sleep(pauseMs);
      while (requests > running.export + running.import && performance.now() < until);
    },
    watch(app) {
      app.addHook('preClose', async () => {
        stopping.abort(new LeadsError('unavailable', { message: 'The service is stopping' }));
      });
      app.addHook('onRequest', (request, reply, done) => {
        // An endless answer waits for most of its time; giving way to it would slow down every export.
        if (request.routeOptions.config.isEndless !== true) {
          requests += 1;
          reply.raw.once('close', () => (requests -= 1));
        }
        done();
      });
    },
  };
}
