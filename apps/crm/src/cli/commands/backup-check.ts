import type { Archiving } from '@leads/core/db';
import type { Command } from 'commander';
import { parseDuration } from '../runtime/arguments.ts';
import { CliError } from '../runtime/cli-error.ts';
import type { CliIo } from '../runtime/cli-io.ts';
import { examples, jsonOption } from '../runtime/help.ts';
import { openOperator } from '../runtime/operator.ts';
import { formatTime, type OutputOptions, printResult } from '../runtime/output.ts';

interface CheckOptions extends OutputOptions {
  readonly maxAge?: number;
}

const defaultMaxAgeSeconds = 600;

/** `leads backup-check` */
export function addBackupCheckCommand(program: Command, io: CliIo): void {
  program
    .command('backup-check')
    .summary("check that Postgres's write-ahead log is archived")
    .description(
      'Checks what Postgres itself knows of its backup: that it archives its write-ahead log, that the last attempt did not fail, and that what was archived last is not too old; with 1 where it is not so. That there are base backups, and that they can be restored, it does not know. A managed Postgres may have means of its own.',
    )
    .option('--max-age <duration>', 'how old what is not archived may be; 10m if left out', parseDuration)
    .addOption(jsonOption())
    .addHelpText('after', examples('leads backup-check', 'leads backup-check --max-age 1h'))
    .action((options) => checkBackup(io, options));
}

async function checkBackup(io: CliIo, options: CheckOptions): Promise<void> {
  await using operator = openOperator(io);
  const archiving = await operator.archiving();
  const faults = faultsOf(archiving, options.maxAge ?? defaultMaxAgeSeconds);
  printResult(
    io,
    options,
    { ...archiving, faults },
    faults.length === 0 ? 'The write-ahead log is archived.' : faults.join('\n'),
  );
  // The result has named the faults.
  if (faults.length > 0) throw new CliError();
}

function faultsOf(archiving: Archiving, maxAgeSeconds: number): string[] {
  const { isReplica, walLevel, archiveMode, archivedAt, failedAt, unarchivedBytes } = archiving;
  if (isReplica) return ['This is a replica: ask its primary.'];
  const faults: string[] = [];
  if (walLevel === 'minimal') faults.push('wal_level is minimal: no backup can follow the log.');
  if (archiveMode === 'off') return [...faults, 'archive_mode is off: nothing is archived.'];
  if (failedAt !== null && (archivedAt === null || failedAt > archivedAt)) {
    faults.push(`Archiving fails since ${formatTime(archivedAt ?? failedAt)} UTC: see the server's log.`);
  }
  if (archivedAt === null) {
    faults.push('Nothing was archived yet.');
  } else if (unarchivedBytes !== 0 && archivedAt.getTime() < Date.now() - maxAgeSeconds * 1000) {
    faults.push(`What was written after ${formatTime(archivedAt)} UTC is not archived: set archive_timeout.`);
  }
  return faults;
}
