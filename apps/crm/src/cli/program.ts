import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addBackupCheckCommand } from './commands/backup-check.ts';
import { addCampaignCommands } from './commands/campaign.ts';
import { addDbCommands } from './commands/db.ts';
import { addEraseCommand } from './commands/erase.ts';
import { addEventsCommands } from './commands/events.ts';
import { addExportCommand } from './commands/export.ts';
import { addImportCommand } from './commands/import.ts';
import { addKeyCommands } from './commands/key.ts';
import { addLandingPageCommands } from './commands/landing-page.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addQuarantineCommands } from './commands/quarantine.ts';
import { addRetentionCommands } from './commands/retention.ts';
import { addTokenCommands } from './commands/token.ts';
import { addUserCommands } from './commands/user.ts';
import { describeFailure, explainFailure } from './runtime/cli-error.ts';
import { exitCodes } from './runtime/exit-codes.ts';
import { commonHelp } from './runtime/help.ts';
import { printNotice } from './runtime/output.ts';
import { isDebugging } from './runtime/settings.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/**
 * Carries out a command of the `leads` command line: prints its result on stdout, what goes wrong on stderr, and sets
 * `process.exitCode`.
 *
 * @param args without node and the program.
 */
export async function runProgram(args: readonly string[]): Promise<void> {
  process.exitCode = exitCodes.done;
  try {
    await createProgram().parseAsync(args, { from: 'user' });
  } catch (error) {
    const { exitCode, line } = describeFailure(error);
    process.exitCode = exitCode;
    if (line !== undefined) {
      printNotice(`error: ${line}`);
      if (isDebugging()) process.stderr.write(`${explainFailure(error)}\n`);
    }
  }
}

function createProgram(): Command {
  const program = new Command('leads')
    .description("The operator's command line of the lead-management services.")
    .version(version)
    .exitOverride()
    .addHelpText('afterAll', ({ command }) => commonHelp(command));
  addMigrateCommand(program);
  addDbCommands(program);
  addUserCommands(program);
  addCampaignCommands(program);
  addLandingPageCommands(program);
  addKeyCommands(program);
  addTokenCommands(program);
  addImportCommand(program);
  addExportCommand(program);
  addQuarantineCommands(program);
  addEventsCommands(program);
  addEraseCommand(program);
  addRetentionCommands(program);
  addBackupCheckCommand(program);
  return program;
}
