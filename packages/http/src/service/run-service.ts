import cluster from 'node:cluster';
import { Server as TcpServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { Server } from '../server/create-server.ts';
import { ConfigError } from './config.ts';
import type { Logger } from './log.ts';
import { LogLevel } from './log-level.ts';
import type { Metrics } from './metrics.ts';
import { shutdown } from './shutdown.ts';
import { joinWorkers } from './workers.ts';

/** What takes requests, and what it does that with. */
interface Service {
  app: Server;
  /** What the server's own log is a child of. */
  log: Logger;
  context: AsyncDisposable & { readonly metrics: Metrics };
  listen: { host: string; port: number };
  shutdownDelayMs: number;
}

/**
 * Runs a service as this process until it is told to stop: SIGTERM and SIGINT first make `/health/ready` say 503
 * while all is served as before. Then no more connections are taken, those that are open end with their next answer,
 * requests under way are answered, and the context is disposed. A second signal ends the process at once. SIGUSR2
 * switches the log level.
 *
 * @param start builds the service; its errors end the process with one clear line and exit code 1. Nothing, where
 *   workers of this process are the service.
 */
export async function runService(start: () => Promise<Service | undefined>): Promise<void> {
  try {
    const service = await start();
    if (service === undefined) return;
    const { app, log, context, listen, shutdownDelayMs } = service;
    const { close } = closeWithGrace(shutdown, async ({ signal, err, manual }) => {
      if (err === undefined) app.log.info({ signal }, 'Stopping');
      else app.log.fatal({ err }, 'Stopping after an error that nobody caught');
      app.lifecycle.draining = true;
      if (signal !== undefined || manual === true) {
        await sleep(shutdownDelayMs);
        await leave(app, Math.min(shutdownDelayMs, longestLeaveMs));
      }
      await app.close();
      await context[Symbol.asyncDispose]();
      app.log.info('Stopped');
    });
    const logLevel = new LogLevel(log, app.log);
    if (cluster.isWorker) joinWorkers(app, { metrics: context.metrics, logLevel, stop: close });
    else logLevel.switchBySignal();
    await app.listen(listen);
    app.log.info({ host: listen.host, port: listen.port }, 'Listening');
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

const longestLeaveMs = 5_000;

/**
 * Takes no more connections, and waits until those that are open have ended, for some time at most. Before the door is
 * closed they are kept: a proxy that had to make a new one for each request would have some on their way just then, and
 * these would be reset.
 */
async function leave(app: Server, timeoutMs: number): Promise<void> {
  app.lifecycle.leaving = true;
  await takeWaiting(app);
  const closed = new Promise<void>((resolve) => {
    // Not http's own close, which ends idle connections at once: a request may be on its way on one of them.
    TcpServer.prototype.close.call(app.server, () => resolve());
  });
  const isLate = new AbortController();
  await Promise.race([closed, sleep(timeoutMs, undefined, { signal: isLate.signal })]);
  isLate.abort();
  // What came meanwhile on a connection that seems idle is read before that is ended.
  await nextTurn();
}

/** More turns than connections can wait: `listen` asks for 511. */
const maxTurns = 600;

/**
 * Takes the connections that wait to be taken, each in a turn of Node's loop, as libuv does since 1.45: who closes the
 * door on them resets them, with the requests that were sent already.
 */
async function takeWaiting({ server }: Server): Promise<void> {
  let isTaken = true;
  const noteTaken = () => {
    isTaken = true;
  };
  server.on('connection', noteTaken);
  for (let turn = 0; isTaken && turn < maxTurns; turn++) {
    isTaken = false;
    await nextTurn();
  }
  server.off('connection', noteTaken);
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return `The configuration does not hold:\n${error.message}`;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return `Cannot start: ${error.message.replace(/^.*EADDRINUSE(: address already in use)?/, 'already in use:')}`;
  }
  return `Cannot start: ${error instanceof Error ? error.message : String(error)}`;
}
