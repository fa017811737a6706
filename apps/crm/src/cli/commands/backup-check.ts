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

/** Adds `leads backup-check`. */
export function addBackupCheckCommand(program: Command, io: CliIo): void {
  program
    .command('backup-check')
    .summary('check that Postgres archives its write-ahead log')
    .description(
      'Checks that Postgres archives its write-ahead log. Exits with 1 if archiving is off, if the last attempt failed, or if unarchived data is older than --max-age. It does not check that base backups exist or can be restored. A managed Postgres may have its own backup checks.',
    )
    .option('--max-age <duration>', 'the maximum age of unarchived data (default: 10m)', parseDuration)
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
  // The result already lists the faults.
  if (faults.length > 0) throw new CliError();
}

function faultsOf(archiving: Archiving, maxAgeSeconds: number): string[] {
  const { isReplica, walLevel, archiveMode, archivedAt, failedAt } = archiving;
  if (isReplica) return ['This server is a replica: check its primary.'];
  const faults: string[] = [];
  if (walLevel === 'minimal') faults.push('wal_level is minimal: set it to replica.');
  if (archiveMode === 'off') return [...faults, 'archive_mode is off: nothing is archived.'];
  if (failedAt !== null && (archivedAt === null || failedAt > archivedAt)) {
    faults.push(
      `Archiving has failed since ${formatTime(archivedAt ?? failedAt)} UTC: see the server's log.`,
    );
  }
  if (archivedAt === null) {
    faults.push('No WAL segment has been archived yet.');
  } else if (
    isWaiting(archiving, maxAgeSeconds) &&
    archivedAt.getTime() < Date.now() - maxAgeSeconds * 1000
  ) {
    const fix = completesSegments(archiving, maxAgeSeconds)
      ? `see the server's log`
      : `set archive_timeout to ${maxAgeSeconds} s or less`;
    faults.push(`WAL written after ${formatTime(archivedAt)} UTC is not archived: ${fix}.`);
  }
  return faults;
}

/** Whether Postgres completes each segment that has a change within the maximum age. */
function completesSegments({ archiveTimeoutSeconds }: Archiving, maxAgeSeconds: number): boolean {
  return archiveTimeoutSeconds > 0 && archiveTimeoutSeconds <= maxAgeSeconds;
}

/**
 * Whether data waits for the archive. The open segment of an idle server has records without changes, such as the list of
 * running transactions. Postgres does not complete a segment for them.
 */
function isWaiting(archiving: Archiving, maxAgeSeconds: number): boolean {
  const { unarchivedBytes, segmentBytes } = archiving;
  const minBytes = completesSegments(archiving, maxAgeSeconds) ? segmentBytes : 1;
  return unarchivedBytes === null || unarchivedBytes >= minBytes;
}
