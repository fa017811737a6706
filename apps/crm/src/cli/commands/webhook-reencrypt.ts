import { type Reencryption, reencryptSecrets } from '@leads/core/delivery';
import { ConfigError } from '@leads/http/service/config';
import type { Command } from 'commander';
import { webhookSettingsOf } from '../../deliveries/webhook-settings.ts';
import { CliError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption } from '../runtime/help.ts';
import { openOperator } from '../runtime/operator.ts';
import { type OutputOptions, printResult } from '../runtime/output.ts';
import { startProgress } from '../runtime/progress.ts';
import { DeliverySettings, readSettings } from '../runtime/settings.ts';

interface ReencryptOptions extends OutputOptions {
  readonly check?: true;
}

/** Adds `leads webhook reencrypt`. */
export function addReencryptCommand(webhook: Command, io: CliIo): void {
  webhook
    .command('reencrypt')
    .summary('encrypt the secrets of all webhooks with a new DELIVERIES_SECRET')
    .description(
      'Encrypts the secrets and headers of the webhooks of all workspaces with DELIVERIES_SECRET. DELIVERIES_PREVIOUS_SECRET decrypts them. A run that was interrupted can be repeated. Exits with 1 while a webhook needs another secret than DELIVERIES_SECRET.',
    )
    .option('--check', 'change nothing, and fail while a webhook needs another secret than DELIVERIES_SECRET')
    .addOption(jsonOption())
    .addHelpText('after', examples('leads webhook reencrypt', 'leads webhook reencrypt --check'))
    .action((options) => reencrypt(io, options));
}

async function reencrypt(io: CliIo, options: ReencryptOptions): Promise<void> {
  const { secrets } = webhookSettingsOf(readSettings(DeliverySettings, io.env));
  if (secrets === undefined) throw new ConfigError('DELIVERIES_SECRET is required: set it to the new secret');
  await using operator = openOperator(io);
  let rows = 0;
  const progress = startProgress(io, { isShown: options.json !== true, position: () => ({ rows }) });
  let result: Reencryption;
  try {
    result = await reencryptSecrets(operator.sealedTexts, secrets, {
      isCheck: options.check === true,
      onPage: (webhooks) => {
        rows = webhooks;
      },
    });
  } finally {
    progress[Symbol.dispose]();
  }
  printResult(io, options, result, describe(result));
  const { outdated, unreadable } = result;
  if (unreadable.length > 0) {
    throw new CliError(
      `DELIVERIES_SECRET and DELIVERIES_PREVIOUS_SECRET do not decrypt ${unreadable.length} webhooks. Set DELIVERIES_PREVIOUS_SECRET to the secret that encrypted them: ${unreadable.slice(0, 10).join(', ')}`,
    );
  }
  if (outdated > 0) {
    throw new CliError(
      `${outdated} webhooks need DELIVERIES_PREVIOUS_SECRET: keep it, and run \`leads webhook reencrypt\``,
    );
  }
}

function describe({ current, reencrypted, outdated, unreadable }: Reencryption): string {
  const isDone = outdated + unreadable.length === 0;
  const end = isDone ? ' DELIVERIES_PREVIOUS_SECRET can be removed.' : '';
  return `Encrypted ${reencrypted} webhooks again. ${current} webhooks use DELIVERIES_SECRET.${end}`;
}
