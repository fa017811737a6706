import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { createDeliveryQueue, type Database, openDatabase } from '@leads/core/db';
import { ConfigError } from '@leads/http/service/config';
import type { Command } from 'commander';
import { openDeliverer } from '../../deliveries/open-deliverer.ts';
import { keepHeapSmall } from '../../heap.ts';
import { webhookSettingsOf } from '../../deliveries/webhook-settings.ts';
import { describeFailure } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples } from '../runtime/help.ts';
import { printNotice } from '../runtime/output.ts';
import { DeliverSettings, readSettings } from '../runtime/settings.ts';

/** The connections of the process. The deliverer needs one for each of its loops. */
const poolSize = 4;

/** Adds `leads deliver`. */
export function addDeliverCommand(program: Command, io: CliIo): void {
  program
    .command('deliver')
    .summary('send webhooks until it is stopped')
    .description(
      'Sends the webhooks of all workspaces until SIGTERM or Ctrl-C. Run it where the CRM service has CRM_DELIVERIES=false, for example because only this process may reach the internet. Any number may run. It needs the database role of the CRM, or the owner of the tables. With DELIVER_PORT, it serves /health/live, /health/ready and /metrics.',
    )
    .option('--json', 'has no effect: the command has no result')
    .addHelpText('after', examples('leads deliver'))
    .action(() => deliver(io));
}

/**
 * Lets the intake and Postgres on the same machine run first. Beside a sender with this priority, an intake under full load
 * stored 1.14 to 1.28 times as many leads. A delivery can wait, and a request for a lead cannot.
 */
function lowerPriority(): void {
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The system does not permit it. Deliveries are sent with the usual priority.
  }
}

/**
 * Keeps the process alive until it is disposed. The pauses of the deliverer do not, and during an outage of Postgres there is
 * no connection that would.
 */
function keepAlive(): Disposable {
  const timer = setInterval(() => undefined, 60_000);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function deliver(io: CliIo): Promise<void> {
  keepHeapSmall();
  using _alive = keepAlive();
  const settings = readSettings(DeliverSettings, io.env);
  const webhookSettings = webhookSettingsOf(settings);
  const signal = io.interruption();
  await using database = openDatabase({
    url: settings.DATABASE_URL,
    poolSize,
    connectTimeoutMs: settings.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: settings.DATABASE_STATEMENT_TIMEOUT_MS,
    preparedStatements: settings.DATABASE_PREPARED_STATEMENTS,
    applicationName: 'leads-deliver',
  });
  await database.ping();
  const { DELIVER_HOST: host, DELIVER_PORT: port, METRICS_TOKEN: metricsToken } = settings;
  await using server = port === undefined ? undefined : await createServer(database, io);
  await using deliverer = openDeliverer(settings, createDeliveryQueue(database), webhookSettings, {
    onError: (error) => {
      const { line = messageOf(error) } = describeFailure(error, io.env);
      printNotice(io, `Deliveries failed in the database; retrying: ${line}`);
    },
    onDisabled: (id) =>
      printNotice(io, `Disabled webhook ${id}, because its receiver fails or wants no more deliveries`),
    onUnreadable: (id, error) =>
      printNotice(io, `The secret of webhook ${id} cannot be decrypted; retrying: ${messageOf(error)}`),
    onAttempt: (durationMs) => server?.observeAttempt(durationMs),
  });
  if (deliverer === undefined) {
    throw new ConfigError('DELIVERIES_SECRET is required: set it to the value of the CRM service');
  }
  lowerPriority();
  if (port !== undefined) await server?.listen(deliverer, { host, port, metricsToken });
  printNotice(io, 'Sending webhooks');
  if (!signal.aborted) await once(signal, 'abort');
  server?.drain();
  printNotice(io, 'Stopping');
}

/** Loads the server on demand, because no other command needs one. */
async function createServer(database: Database, { stderr }: CliIo) {
  const { DeliverServer } = await import('../../deliveries/deliver-server.ts');
  return new DeliverServer(database, stderr);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
