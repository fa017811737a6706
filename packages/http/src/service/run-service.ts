import cluster from 'node:cluster';
import { Server as TcpServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import { requestTimeoutMs, type Server } from '../server/create-server.ts';
import { ConfigError } from './config.ts';
import type { Logger } from './log.ts';
import { LogLevel } from './log-level.ts';
import type { Metrics } from './metrics.ts';
import { shutdown } from './shutdown.ts';
import { joinWorkers } from './workers.ts';

/** A built service: its server, and everything the server needs. */
interface Service {
  app: Server;
  /** The parent of the server's own logger. */
  log: Logger;
  context: AsyncDisposable & { readonly metrics: Metrics };
  listen: { host: string; port: number };
  shutdownDelayMs: number;
}

/**
 * Runs a service in this process until SIGTERM or SIGINT. Then `/health/ready` answers 503 while the service keeps
 * serving for `shutdownDelayMs`. After that it accepts no more connections, closes each open one with its next answer,
 * answers the requests in progress, and disposes the context. A request that is not whole within the request timeout is
 * not answered. A response that its client does not read in time is cut off. A second signal ends the process at once.
 * SIGUSR2 switches the log level.
 *
 * @param start builds the service. An error ends the process with one line and exit code 1. It returns undefined if
 *   workers of this process serve instead.
 */
export async function runService(start: () => Promise<Service | undefined>): Promise<void> {
  try {
    const service = await start();
    if (service === undefined) return;
    const { app, log, context, listen, shutdownDelayMs } = service;
    const { close } = closeWithGrace(shutdown, async ({ signal, err, manual }) => {
      const endAt = performance.now() + shutdown.delay;
      if (err === undefined) app.log.info({ signal }, 'Stopping');
      else app.log.fatal({ err }, 'Stopping after an uncaught error');
      app.lifecycle.draining = true;
      if (signal !== undefined || manual === true) {
        await sleep(shutdownDelayMs);
        await leave(app, Math.min(shutdownDelayMs, longestLeaveMs));
      }
      await closeServer(app, endAt - disposalMs - performance.now());
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
/** The time that a client has for a last request after a response that ended during the stop. */
const idleMs = 1_000;
/** The time that is left to dispose the context before the process is ended. */
const disposalMs = 2_000;

/**
 * Stops accepting connections, and waits until the open ones have ended, for at most `timeoutMs`. Connections are kept
 * alive until then. Otherwise a proxy would open a new one for each request, and those in progress would be reset.
 */
async function leave(app: Server, timeoutMs: number): Promise<void> {
  app.lifecycle.leaving = true;
  await acceptQueued(app);
  const closed = new Promise<void>((resolve) => {
    // http's own close would end idle connections at once, although a request may be arriving on one of them.
    TcpServer.prototype.close.call(app.server, () => resolve());
  });
  const waitEnded = new AbortController();
  await Promise.race([closed, sleep(timeoutMs, undefined, { signal: waitEnded.signal })]);
  waitEnded.abort();
  // Read what has arrived on connections that seem idle, before they are ended.
  await nextTurn();
}

/** More turns than connections can queue: `listen` sets a backlog of 511. */
const maxTurns = 600;

/**
 * Accepts the queued connections, one in each turn of the event loop, as libuv does since 1.45. Closing the listening
 * socket would reset them, together with requests that were already sent.
 */
async function acceptQueued({ server }: Server): Promise<void> {
  let isAccepted = true;
  const noteAccepted = () => {
    isAccepted = true;
  };
  server.on('connection', noteAccepted);
  for (let turn = 0; isAccepted && turn < maxTurns; turn++) {
    isAccepted = false;
    await nextTurn();
  }
  server.off('connection', noteAccepted);
}

/**
 * Closes the server once the requests in progress have their responses. A connection that its client keeps open after such
 * a response is closed after `idleMs`. Connections without a whole request are closed after the request timeout: Node stops
 * enforcing its timeouts when it closes the server, and a client that sends nothing would keep the process alive. All other
 * connections are closed after `timeoutMs`, because a client can stop reading its response.
 */
async function closeServer(app: Server, timeoutMs: number): Promise<void> {
  const timers = [
    setTimeout(() => app.connections.closeWaiting(), requestTimeoutMs),
    setTimeout(() => app.server.closeAllConnections(), timeoutMs),
  ];
  // A response that began before the stop, such as an event stream, may lack `Connection: close`.
  app.server.keepAliveTimeout = idleMs;
  await app.close();
  for (const timer of timers) clearTimeout(timer);
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return `Invalid configuration:\n${error.message}`;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return `Cannot start: ${error.message.replace(/^.*EADDRINUSE(: address already in use)?/, 'already in use:')}`;
  }
  return `Cannot start: ${error instanceof Error ? error.message : String(error)}`;
}
