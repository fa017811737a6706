import { once } from 'node:events';
import { createDeliveryQueue, openDatabase } from '@leads/core/db';
import { ConfigError } from '@leads/http/service/config';
import type { Command } from 'commander';
import { openDeliverer } from '../../deliveries/open-deliverer.ts';
import { limitHeapGrowth } from '../../heap.ts';
import { webhookSettingsOf } from '../../deliveries/webhook-settings.ts';
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
      'Sends the webhooks of all workspaces until SIGTERM or Ctrl-C. Run it where the CRM service has CRM_DELIVERIES=false, for example because only this process may reach the internet. Any number may run. It needs the database role of the CRM, or the owner of the tables.',
    )
    .option('--json', 'has no effect: the command has no result')
    .addHelpText('after', examples('leads deliver'))
    .action(() => deliver(io));
}

async function deliver(io: CliIo): Promise<void> {
  limitHeapGrowth();
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
  await using deliverer = openDeliverer(settings, createDeliveryQueue(database), webhookSettings, {
    onError: (error) => printNotice(io, `Deliveries failed in the database; retrying: ${messageOf(error)}`),
    onDisabled: (id) =>
      printNotice(io, `Disabled webhook ${id}, because its receiver fails or wants no more deliveries`),
    onUnreadable: (id, error) =>
      printNotice(io, `The secret of webhook ${id} cannot be decrypted; retrying: ${messageOf(error)}`),
  });
  if (deliverer === undefined) {
    throw new ConfigError('DELIVERIES_SECRET is required: set it to the value of the CRM service');
  }
  printNotice(io, 'Sending webhooks');
  if (!signal.aborted) await once(signal, 'abort');
  printNotice(io, 'Stopping');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
