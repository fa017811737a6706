import { createInterface } from 'node:readline/promises';
import type { ErasableStore, Erasure, ErasureLog, ErasureTargets, FoundCounts } from '@leads/core/erasure';
import type { Broker } from '@leads/core/nats';
import { ConfigError } from '@leads/http/service/config';
import type { Command } from 'commander';
import { parseEmail, parseOutputPath, parseUuid } from '../runtime/arguments.ts';
import { describeBrokerOutage, openBroker } from '../runtime/broker.ts';
import { CliError, describeInvalidInput } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { ErasureFile } from '../runtime/erasure-file.ts';
import { exampleId, examples, jsonOption } from '../runtime/help.ts';
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

/** The maximum number of workspaces whose audit logs record an erasure in all workspaces. */
const maxWorkspaces = 10_000;

/** Adds `leads erase`. */
export function addEraseCommand(program: Command, io: CliIo): void {
  program
    .command('erase')
    .summary("erase a person's leads from all stores")
    .description(
      "Permanently erases a person's leads, their histories, their events, and their copies in the quarantine and the intake buffer. It also erases saved views that search for the person, and notes of other leads and of payments that contain the person's number or address. The overview keeps its counts. Each erasure is recorded as keyed hashes, so that --again can repeat it after a restore. The next run finishes an interrupted erasure.",
    )
    .option('--phone <number>', 'leads that have or had this phone number, in any notation')
    .option('--country <code>', 'the country of a phone number without a country code, such as GB')
    .option('--email <address>', 'leads that have or had this email address', parseEmail)
    .option('--id <id>', 'the lead with this id', parseUuid)
    .option('--workspace <slug>', 'only leads of this workspace (default: all workspaces)')
    .option('--again', 'repeat all recorded erasures; use it after a restore from a backup')
    .option('--log <file>', 'also record the erasure in this file; --again reads it', parseOutputPath)
    .option('--without-events', 'skip NATS: its event stream, its buffer and its erasure log')
    .option('--dry-run', 'count the matching data without erasing it')
    .option('--yes', 'skip the confirmation')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads erase --phone "+44 20 7946 0958" --dry-run',
        'leads erase --email ada@example.io --phone "020 7946 0958" --country GB',
        `leads erase --id ${exampleId} --workspace acme --yes`,
        'leads erase --again --yes',
      ),
    )
    .action((options, command) => eraseLeads(io, options, command));
}

async function eraseLeads(io: CliIo, options: EraseOptions, command: Command): Promise<void> {
  const { phone, email, id, again, log } = options;
  const hasSubject = phone !== undefined || email !== undefined || id !== undefined;
  if (hasSubject === (again === true)) {
    command.error('error: set --phone, --email or --id, or set --again alone');
  }
  if (again === true && (options.workspace !== undefined || options.dryRun === true)) {
    command.error("error: option '--again' cannot be used with --workspace or --dry-run");
  }
  const { ERASURE_SECRET, NATS_URL, NATS_INTAKE_URL } = readSettings(ErasureSettings, io.env);
  const isWithEvents = options.withoutEvents !== true;
  if (isWithEvents && NATS_URL === undefined) {
    throw new ConfigError(
      'NATS_URL is required because NATS stores leads too; if there is no NATS, use --without-events',
    );
  }
  if (!isWithEvents && log === undefined && options.dryRun !== true) {
    command.error('error: --without-events needs a file to record the erasure: set --log <file>');
  }
  if (!isWithEvents) printNotice(io, 'Skipping the NATS streams.');

  await using operator = openOperator(io);
  await using broker = isWithEvents ? await openBroker(NATS_URL ?? '') : undefined;
  await using intakeBroker =
    isWithEvents && NATS_INTAKE_URL !== undefined ? await openBroker(NATS_INTAKE_URL) : undefined;
  const { ErasureKeys } = await import('@leads/core/erasure');
  const targets: ErasureTargets = {
    keys: new ErasureKeys(ERASURE_SECRET),
    table: operator.erasures,
    ...(await storesOf(operator, broker && { events: broker, intake: intakeBroker ?? broker }, log)),
  };
  const eraseFrom = again === true ? eraseEveryoneAgain : erasePerson;
  await eraseFrom(io, { operator, targets }, options).catch((error: unknown) => {
    const urls = [NATS_URL, NATS_INTAKE_URL].filter((url) => url !== undefined);
    throw isWithEvents ? describeBrokerOutage(error, urls.join(',')) : error;
  });
}

async function erasePerson(
  io: CliIo,
  { operator, targets }: { readonly operator: Operator; readonly targets: ErasureTargets },
  options: EraseOptions,
): Promise<void> {
  const { phone, country, email, id } = options;
  const { erase, planErasure } = await import('@leads/core/erasure');
  const workspace =
    options.workspace === undefined ? undefined : await findWorkspace(operator.workspaces, options.workspace);
  const ids = id === undefined ? [] : [id];
  const plan = await planErasure(targets, { ids, phone, country, email }, workspace?.id).catch(
    (error: unknown) => {
      throw describeInvalidInput(error);
    },
  );
  if (options.withoutEvents !== true) await reportMissingBuffer(io, plan.counts);
  if (options.dryRun === true) {
    printResult(io, options, { found: plan.counts }, `Found: ${describe(plan.counts)}.`);
    return;
  }
  await confirm(io, options, `Found: ${describe(plan.counts)}. Erase them permanently?`);
  const { erased, left, finished } = await erase(targets, plan.erasure);
  await recordErasures(operator, finished);
  printResult(
    io,
    options,
    { id: plan.erasure.id, erased, left },
    `Erased: ${describe(erased)}. Recorded as ${plan.erasure.id}.`,
  );
  requireNoneLeft(left);
}

/** Records erasures in the audit log of each workspace that they concern. */
async function recordErasures(operator: Operator, erasures: readonly Erasure[]): Promise<void> {
  for (const { id, workspaceId: onlyId } of erasures) {
    const workspaces = onlyId === undefined ? await operator.workspaces.listWorkspaces(maxWorkspaces) : [];
    // Counts of one workspace must not be visible in another.
    for (const workspaceId of onlyId === undefined ? workspaces.map((each) => each.id) : [onlyId]) {
      await operator.recordAction({
        action: 'person.erased',
        scope: { workspaceId },
        targetId: id,
        details: { isForAllWorkspaces: onlyId === undefined },
      });
    }
  }
}

async function eraseEveryoneAgain(
  io: CliIo,
  { operator, targets }: { readonly operator: Operator; readonly targets: ErasureTargets },
  options: EraseOptions,
): Promise<void> {
  await confirm(io, options, 'Repeat all recorded erasures?');
  const { repeatErasures } = await import('@leads/core/erasure');
  const { erasures, erased, left, finished } = await repeatErasures(targets);
  if (options.withoutEvents !== true) await reportMissingBuffer(io, erased);
  await recordErasures(operator, finished);
  printResult(
    io,
    options,
    { erasures, erased, left },
    `Repeated ${erasures} erasures. Erased: ${describe(erased)}.`,
  );
  requireNoneLeft(left);
}

/** Reports that buffered leads have no count, because the broker has no stream of them. */
async function reportMissingBuffer(io: CliIo, { buffered }: FoundCounts): Promise<void> {
  if (buffered !== undefined) return;
  const { bufferStreamName } = await import('@leads/core/nats');
  printNotice(
    io,
    `NATS has no stream ${bufferStreamName}, so no buffered leads were checked: if the intake uses another account or other servers, set NATS_INTAKE_URL`,
  );
}

function requireNoneLeft(left: FoundCounts): void {
  if (Object.values(left).every((count) => count === 0)) return;
  throw new CliError(`New matches arrived during the erasure (${describe(left)}): run it again`);
}

/** @throws CliError if stdin is not a terminal, or if the answer is not yes. */
async function confirm({ stdin, stderr }: CliIo, { yes }: EraseOptions, question: string): Promise<void> {
  if (yes === true) return;
  if (stdin.isTTY !== true) throw new CliError('stdin is not a terminal: confirm with --yes');
  const terminal = createInterface({ input: stdin, output: stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('Canceled: no lead was erased');
  } finally {
    terminal.close();
  }
}

async function storesOf(
  { erasable }: Operator,
  brokers: { readonly events: Broker; readonly intake: Broker } | undefined,
  logFile: string | undefined,
): Promise<{ stores: readonly ErasableStore[]; logs: readonly ErasureLog[] }> {
  const files = logFile === undefined ? [] : [new ErasureFile(logFile)];
  if (brokers === undefined) return { stores: erasable, logs: files };
  const { createErasableBuffer, createErasableEvents, ErasureStream } = await import('@leads/core/nats');
  return {
    stores: [createErasableBuffer(brokers.intake), ...erasable, createErasableEvents(brokers.events)],
    logs: [new ErasureStream(brokers.events), ...files],
  };
}

const words: Readonly<Record<keyof FoundCounts, string>> = {
  leads: 'leads',
  changes: 'history entries',
  waitingEvents: 'unpublished events',
  views: 'saved views',
  notes: 'notes of other leads',
  payments: 'notes and reasons of payments',
  quarantined: 'quarantined leads',
  buffered: 'buffered leads',
  events: 'events',
};

/** Formats the counts. It names no values, because logs may store the output. */
function describe(counts: FoundCounts): string {
  const parts = Object.entries(words).flatMap(([kind, name]) => {
    const count = counts[kind as keyof FoundCounts];
    return count === undefined ? [] : `${formatCount(count)} ${name}`;
  });
  return parts.join(', ');
}
