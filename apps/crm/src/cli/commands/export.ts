import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ExportFormat, LeadFilterQuery } from '@leads/core/lead';
import { optionalSortFields, sortFields } from '@leads/core/lead/sort-fields';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CliError, describeInvalidInput } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import {
  examples,
  jsonOption,
  quietOption,
  type WorkspaceOptions,
  workspaceOption,
} from '../runtime/help.ts';
import { findMembership, findWorkspace } from '../runtime/lookups.ts';
import { type Operator, openOperator } from '../runtime/operator.ts';
import { printNotice, printResult } from '../runtime/output.ts';
import { writeCompleteFile } from '../runtime/output-file.ts';
import { formatCount, startProgress } from '../runtime/progress.ts';

interface ExportCommandOptions extends WorkspaceOptions, Filters {
  readonly user?: string;
  readonly quiet?: true;
  readonly format?: ExportFormat;
}

/** The filters of the lead list, by commander's option names. */
type Filters = Omit<LeadFilterQuery, 'campaignCode' | 'q' | 'user' | 'callbackDue'> & {
  readonly publisher?: string;
  readonly campaign?: string;
  readonly callbackDue?: true;
  readonly search?: string;
};

/** The command-line option of each query parameter of the lead list. */
const filterFlags = {
  status: ['--status <statuses>', 'only leads of this status, or of these statuses, separated by commas'],
  user: ['--publisher <id>', 'only leads of the user with this id'],
  campaignCode: ['--campaign <code>', 'only leads of this campaign'],
  payment: ['--payment <id>', 'only leads of the payment with this id'],
  createdFrom: ['--created-from <time>', 'only leads created at this time or later'],
  createdTo: ['--created-to <time>', 'only leads created before this time'],
  updatedSince: ['--updated-since <time>', 'only leads created or changed at this time or later'],
  phone: ['--phone <number>', 'only leads of this phone number, in any notation'],
  s1: ['--s1 <sub-id>', 'only leads of this sub-id'],
  lpName: ['--lp-name <name>', 'only leads of this landing page'],
  country: ['--country <country>', 'only leads with exactly this country'],
  source: ['--source <source>', 'only leads that this service accepted: crm or intake'],
  assignee: ['--assignee <user>', 'only leads of this assignee: a user id, none, or me with --user'],
  callbackDue: ['--callback-due', 'only leads whose time to call back has come'],
  q: [
    '--search <text>',
    'only leads that match: words of a name or email address, part of a phone number, an id, a sub-id, or the code or name of a campaign',
  ],
  has: ['--has <field>', `only leads with a value in this field: ${optionalSortFields.join(', ')}`],
  sort: ['--sort <order>', `one of ${sortFields.join(', ')}; with - for descending (default: newest first)`],
} as const satisfies Record<keyof LeadFilterQuery, readonly [string, string]>;

/** The paths of standard output. */
const stdoutPaths = new Set(['-', '/dev/stdout', '/dev/fd/1']);

/** Adds `leads export`. */
export function addExportCommand(program: Command, io: CliIo): void {
  const command = program
    .command('export')
    .summary('write leads to a file')
    .description(
      'Writes all fields of every matching lead of a workspace, like GET /api/v1/order/leads with Accept: text/csv. The file appears under its name when it is complete.',
    )
    .argument('[file]', 'the file to write; - for standard output', '-')
    .addOption(workspaceOption('there is only one workspace, or the user is a member of only one'))
    .option('--user <email>', 'only leads that this member can see')
    .addOption(
      new Option(
        '--format <format>',
        'csv (with an apostrophe before each formula-like value) or ndjson (default: by file extension, otherwise csv)',
      ).choices(['csv', 'ndjson']),
    );
  for (const [flags, description] of Object.values(filterFlags)) {
    const hint = flags === filterFlags.status[0] ? ' Separate several statuses by commas.' : '';
    command.addOption(new Option(flags, description).argParser(onlyOnce(hint)));
  }
  command
    .addOption(quietOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'leads export leads.csv --workspace acme',
        'leads export approved.ndjson --workspace acme --status Approved --updated-since 2026-01-01',
        'leads export --workspace acme --campaign SPRING | gzip > spring.csv.gz',
      ),
    )
    .action((path, options) => runExport(io, path, options, command));
}

/** Rejects an option that is given twice. Otherwise the export would silently ignore the first value. */
function onlyOnce(hint: string): (value: string, previous: string | undefined) => string {
  return (value, previous) => {
    if (previous === undefined) return value;
    throw new InvalidArgumentError(`It is given twice.${hint}`);
  };
}

async function runExport(
  io: CliIo,
  path: string,
  options: ExportCommandOptions,
  command: Command,
): Promise<void> {
  const isStdout = stdoutPaths.has(path);
  if (isStdout && options.json === true) {
    command.error("error: option '--json' needs a file: without a file, stdout contains the leads");
  }
  const query = await readFilters(options, command);
  const format = options.format ?? (/\.(nd)?jsonl?$/i.test(path) ? 'ndjson' : 'csv');
  const { countLeads, exportLeads } = await import('@leads/core/lead');
  const signal = io.interruption();
  await using operator = openOperator(io);
  const viewer = await findViewer(operator, options);

  let leads = 0;
  let total: number | undefined;
  const isShown = options.json !== true && options.quiet !== true;
  const progress = startProgress(io, {
    isShown,
    position: () => ({ rows: leads, part: total && leads / total }),
  });
  // The count is for the progress only: the export continues without it.
  if (isShown) total = await countLeads(operator.leads, viewer, query).catch(() => undefined);
  try {
    const pieces = exportLeads(operator.leads, viewer, query, format, signal);
    let piece = await pieces.next();
    // Before any output, because an interrupted export must be in the audit log, too.
    await operator.recordAction({
      action: 'leads.exported',
      scope: { workspaceId: viewer.workspaceId },
      details: { format, filters: Object.keys(query).join(', ') },
    });
    async function* text() {
      for (; piece.done !== true; piece = await pieces.next()) {
        yield piece.value.text;
        leads += piece.value.leads;
      }
    }
    const source = Readable.from(text(), { objectMode: false });
    // The signal ends the wait for a stalled reader.
    if (isStdout) await pipeline(source, io.stdout, { signal, end: false });
    else await writeCompleteFile(path, source, signal);
  } catch (error) {
    progress[Symbol.dispose]();
    if (signal.aborted) {
      const left = isStdout ? 'the output is incomplete' : `${path} was not written`;
      throw new CliError(`Interrupted: ${left}`, { cause: error });
    }
    // EPIPE is not an error: the reader, such as `head`, has closed the pipe.
    if (isStdout && (error as NodeJS.ErrnoException).code === 'EPIPE') return;
    // The handler of errors of stdout has printed this one.
    if (isStdout && (error as NodeJS.ErrnoException).syscall === 'write')
      throw new CliError('', { cause: error });
    throw describeInvalidInput(error);
  }
  progress[Symbol.dispose]();
  if (!isStdout)
    printResult(io, options, { leads, file: path, format }, `Wrote ${formatCount(leads)} leads to ${path}.`);
  else if (options.quiet !== true) printNotice(io, `Wrote ${formatCount(leads)} leads.`);
}

/** Returns the filters. Exits with a usage error if one is invalid. */
async function readFilters(options: ExportCommandOptions, command: Command): Promise<LeadFilterQuery> {
  const { campaign, publisher, search, assignee, callbackDue, user } = options;
  if (assignee === 'me' && user === undefined) command.error("error: option '--assignee me' needs '--user'");
  const names = Object.keys(filterFlags) as (keyof typeof filterFlags)[];
  const given: Record<string, unknown> = {
    ...options,
    campaignCode: campaign,
    user: publisher,
    q: search,
    callbackDue: callbackDue && 'true',
  };
  const query = Object.fromEntries(
    names.map((name) => [name, given[name]]).filter(([, value]) => value !== undefined),
  );
  const { LeadFilterQuery: schema } = await import('@leads/core/lead');
  const { createBodyCheck } = await import('@leads/http/server/validation-errors');
  const [fault] = createBodyCheck(schema)(query);
  if (fault !== undefined) {
    const [flags] = filterFlags[(fault.path ?? '').slice(1) as keyof typeof filterFlags];
    command.error(`error: option '${flags}' ${fault.reason}`);
  }
  return query as LeadFilterQuery;
}

/** Returns the member of `--user`. Without `--user`, returns an owner, who sees the whole workspace. */
async function findViewer({ workspaces }: Operator, options: ExportCommandOptions) {
  if (options.user !== undefined) {
    const { user, workspace, role } = await findMembership(workspaces, options.user, options.workspace);
    return { workspaceId: workspace.id, userId: user.id, role };
  }
  const workspace = await findWorkspace(workspaces, options.workspace);
  return { workspaceId: workspace.id, userId: '', role: 'owner' as const };
}
