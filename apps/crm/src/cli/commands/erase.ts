import { createInterface } from 'node:readline/promises';
import type { ErasableStore, ErasureLog, ErasureTargets, FoundCounts } from '@leads/core/erasure';
import type { Broker } from '@leads/core/nats';
import { ConfigError } from '@leads/http/service/config';
import type { Command } from 'commander';
import { parseEmail, parseText, parseUuid } from '../runtime/arguments.ts';
import { openBroker } from '../runtime/broker.ts';
import { CliError, describeInvalidInput } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { ErasureFile } from '../runtime/erasure-file.ts';
import { examples, jsonOption } from '../runtime/help.ts';
import { findWorkspace } from '../runtime/lookups.ts';
import { type Operator, openOperator } from '../runtime/operator.ts';
import { type OutputOptions, printNotice, printResult } from '../runtime/output.ts';
import { formatCount } from '../runtime/progress.ts';
import { ErasureSettings, readSettings } from '../runtime/settings.ts';

interface EraseOptions extends OutputOptions {
  readonly phone?: string;
  readonly country?: string;
  readonly email?: string;
  readonly id?: string;
  readonly workspace?: string;
  readonly again?: true;
  readonly log?: string;
  readonly withoutEvents?: true;
  readonly dryRun?: true;
  readonly yes?: true;
}

/** `leads erase` */
export function addEraseCommand(program: Command, io: CliIo): void {
  program
    .command('erase')
    .summary("erase a person's leads, wherever they are")
    .description(
      "Erases a person's leads for good: with their histories, from the quarantine, from the buffer and from the stream of events. How many leads there were stays counted. Each erasure is noted, as keyed hashes, to be done again after a restore (--again). Cut short, it is finished by the next.",
    )
    .option('--phone <number>', 'leads of this phone number, however it is spelled, now or before')
    .option('--country <code>', "the phone number's country, where it is without its code, such as GB")
    .option('--email <address>', 'leads of this email address, now or before', parseEmail)
    .option('--id <id>', 'this lead', parseUuid)
    .option('--workspace <slug>', 'only in this workspace; without it, in all')
    .option('--again', 'erase again everybody who was ever erased: after a restore from a backup')
    .option('--log <file>', 'note it in this file too, and read it for --again', parseText)
    .option('--without-events', 'leave out NATS: the stream of events, the buffer, the log that lies there')
    .option('--dry-run', 'tell how much there is, and erase nothing')
    .option('--yes', 'do not ask')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads erase --phone "+44 20 7946 0958" --dry-run',
        'leads erase --email ada@example.io --phone "020 7946 0958" --country GB',
        'leads erase --id 019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f --workspace acme --yes',
        'leads erase --again --yes',
      ),
    )
    .action((options, command) => eraseLeads(io, options, command));
}

async function eraseLeads(io: CliIo, options: EraseOptions, command: Command): Promise<void> {
  const { phone, country, email, id, again, log } = options;
  const hasSubject = phone !== undefined || email !== undefined || id !== undefined;
  if (hasSubject === (again === true)) {
    command.error('error: say whose leads: --phone, --email or --id; or --again');
  }
  if (again === true && (options.workspace !== undefined || options.dryRun === true)) {
    command.error('error: --again goes with neither --workspace nor --dry-run');
  }
  const { ERASURE_SECRET, NATS_URL } = readSettings(ErasureSettings, io.env);
  const isWithEvents = options.withoutEvents !== true;
  if (isWithEvents && NATS_URL === undefined) {
    throw new ConfigError(
      'NATS_URL is required, for events and the buffer hold leads too; where there is no NATS, say --without-events',
    );
  }
  if (!isWithEvents && log === undefined && options.dryRun !== true) {
    command.error('error: without NATS the erasure has to be noted in a file: --log <file>');
  }
  if (!isWithEvents) printNotice(io, 'Without NATS: its streams are not looked at.');

  await using operator = openOperator(io);
  await using broker = isWithEvents ? await openBroker(NATS_URL ?? '') : undefined;
  const { ErasureKeys } = await import('@leads/core/erasure');
  const targets: ErasureTargets = {
    keys: new ErasureKeys(ERASURE_SECRET),
    table: operator.erasures,
    ...(await storesOf(operator, broker, log)),
  };
  if (again === true) {
    await eraseEveryoneAgain(io, targets, options);
    return;
  }

  const { erase, planErasure } = await import('@leads/core/erasure');
  const workspace =
    options.workspace === undefined ? undefined : await findWorkspace(operator.workspaces, options.workspace);
  const ids = id === undefined ? [] : [id];
  const plan = await planErasure(targets, { ids, phone, country, email }, workspace?.id).catch(
    (error: unknown) => {
      throw describeInvalidInput(error);
    },
  );
  if (options.dryRun === true) {
    printResult(io, options, { found: plan.counts }, `Found: ${describe(plan.counts)}.`);
    return;
  }
  await confirm(io, options, `Found: ${describe(plan.counts)}. Erase them for good?`);
  const { erased, left } = await erase(targets, plan.erasure);
  printResult(
    io,
    options,
    { id: plan.erasure.id, erased, left },
    `Erased: ${describe(erased)}. Noted as ${plan.erasure.id}.`,
  );
  refuseLeft(left);
}

async function eraseEveryoneAgain(io: CliIo, targets: ErasureTargets, options: EraseOptions): Promise<void> {
  await confirm(io, options, 'Erase again everybody who was ever erased?');
  const { repeatErasures } = await import('@leads/core/erasure');
  const { erasures, erased, left } = await repeatErasures(targets);
  printResult(
    io,
    options,
    { erasures, erased, left },
    `Done again: ${erasures} erasures. Erased: ${describe(erased)}.`,
  );
  refuseLeft(left);
}

function refuseLeft(left: FoundCounts): void {
  if (Object.values(left).every((count) => count === 0)) return;
  throw new CliError(`More came meanwhile (${describe(left)}): erase once more`);
}

/** @throws CliError when stdin is no terminal, or when the answer is not yes. */
async function confirm({ stdin, stderr }: CliIo, { yes }: EraseOptions, question: string): Promise<void> {
  if (yes === true) return;
  if (stdin.isTTY !== true) throw new CliError('Confirm with --yes: stdin is not a terminal');
  const terminal = createInterface({ input: stdin, output: stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('Nothing was erased');
  } finally {
    terminal.close();
  }
}

async function storesOf(
  { erasable }: Operator,
  broker: Broker | undefined,
  logFile: string | undefined,
): Promise<{ stores: readonly ErasableStore[]; logs: readonly ErasureLog[] }> {
  const files = logFile === undefined ? [] : [new ErasureFile(logFile)];
  if (broker === undefined) return { stores: erasable, logs: files };
  const { createErasableBuffer, createErasableEvents, ErasureStream } = await import('@leads/core/nats');
  return {
    stores: [createErasableBuffer(broker), ...erasable, createErasableEvents(broker)],
    logs: [new ErasureStream(broker), ...files],
  };
}

const words: Readonly<Record<keyof FoundCounts, string>> = {
  leads: 'leads',
  changes: 'entries of histories',
  waitingEvents: 'events that wait',
  quarantined: 'leads of the quarantine',
  buffered: 'leads of the buffer',
  events: 'events',
};

/** Formats counts only: logs keep what is printed. */
function describe(counts: FoundCounts): string {
  const parts = Object.entries(words).flatMap(([kind, name]) => {
    const count = counts[kind as keyof FoundCounts];
    return count === undefined ? [] : `${formatCount(count)} ${name}`;
  });
  return parts.join(', ');
}
