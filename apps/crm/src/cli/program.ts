import { Command } from 'commander';
import { addBackupCheckCommand } from './commands/backup-check.ts';
import { addCampaignCommands } from './commands/campaign.ts';
import { addDbCommands } from './commands/db.ts';
import { addDeliverCommand } from './commands/deliver.ts';
import { addEraseCommand } from './commands/erase.ts';
import { addEventsCommands } from './commands/events.ts';
import { addExportCommand } from './commands/export.ts';
import { addHoldCommands } from './commands/hold.ts';
import { addImportCommand } from './commands/import.ts';
import { addKeyCommands } from './commands/key.ts';
import { addLandingPageCommands } from './commands/landing-page.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addNatsCommands } from './commands/nats.ts';
import { addPaymentCommands } from './commands/payment.ts';
import { addPostbackCommands } from './commands/postback.ts';
import { addQuarantineCommands } from './commands/quarantine.ts';
import { addRetentionCommands } from './commands/retention.ts';
import { addTokenCommands } from './commands/token.ts';
import { addUserCommands } from './commands/user.ts';
import { addWebhookCommands } from './commands/webhook.ts';
import { version } from './own-files.ts';
import { describeFailure, type ExitCode, exitCodes, explainFailure } from './runtime/cli-error.ts';
import type { CliIo } from './runtime/cli-io.ts';
import { commonHelp } from './runtime/help.ts';
import { printNotice } from './runtime/output.ts';
import { isDebugging } from './runtime/settings.ts';

/**
 * Runs a `leads` command. Prints its result on stdout, and progress and errors on stderr.
 *
 * @param args the command-line arguments, without the program.
 * @returns the exit code.
 */
export async function runCli(args: readonly string[], io: CliIo): Promise<ExitCode> {
  try {
    await createProgram(io).parseAsync(args, { from: 'user' });
    return exitCodes.success;
  } catch (error) {
    const { exitCode, line } = describeFailure(error, io.env);
    if (line !== undefined) {
      printNotice(io, `error: ${line}`);
      if (isDebugging(io.env)) io.stderr.write(`${explainFailure(error)}\n`);
    }
    return exitCode;
  }
}

/** Builds the commander program of the command line. */
export function createProgram(io: CliIo): Command {
  const program = new Command('leads')
    .description("The operator's command line for the lead-management services.")
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getErrHelpWidth: () => io.stderr.columns ?? 80,
    })
    .addHelpText('afterAll', ({ command }) => commonHelp(command));
  const addCommands = [
    addMigrateCommand,
    addDbCommands,
    addNatsCommands,
    addUserCommands,
    addCampaignCommands,
    addLandingPageCommands,
    addKeyCommands,
    addTokenCommands,
    addImportCommand,
    addExportCommand,
    addQuarantineCommands,
    addEventsCommands,
    addWebhookCommands,
    addPostbackCommands,
    addDeliverCommand,
    addEraseCommand,
    addRetentionCommands,
    addHoldCommands,
    addPaymentCommands,
    addBackupCheckCommand,
  ];
  for (const add of addCommands) add(program, io);
  return program;
}
