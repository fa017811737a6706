import { setTimeout as sleep } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import { ConfigError } from './config.ts';
import type { Server } from './server.ts';

/** From the signal to the end, in milliseconds. Orchestrators kill after 30 s. */
const shutdownMs = 28_000;

/**
 * Runs a service as this process until it is told to stop: SIGTERM and SIGINT first make `/health/ready` say 503
 * while requests are still served, then no more are taken, those under way are answered, and the context is
 * disposed. A second signal ends the process at once.
 *
 * @param start builds the service; its errors end the process with one clear line and exit code 1.
 */
export async function runService(
  start: () => Promise<{
    app: Server;
    context: AsyncDisposable;
    listen: { host: string; port: number };
    shutdownDelayMs: number;
  }>,
): Promise<void> {
  try {
    const { app, context, listen, shutdownDelayMs } = await start();
    closeWithGrace({ delay: shutdownMs, logger: false }, async ({ signal, err }) => {
      if (err === undefined) app.log.info({ signal }, 'Stopping');
      else app.log.fatal({ err }, 'Stopping after an error that nobody caught');
      app.lifecycle.draining = true;
      if (signal !== undefined) await sleep(shutdownDelayMs);
      await app.close();
      await context[Symbol.asyncDispose]();
      app.log.info('Stopped');
    });
    await app.listen(listen);
    app.log.info({ host: listen.host, port: listen.port }, 'Listening');
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    process.exit(1);
  }
}

function explain(error: unknown): string {
  if (error instanceof ConfigError) return `The configuration does not hold:\n${error.message}`;
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    return `Cannot start: ${error.message.replace('listen EADDRINUSE: address already in use', 'already in use:')}`;
  }
  return `Cannot start: ${error instanceof Error ? error.message : String(error)}`;
}
