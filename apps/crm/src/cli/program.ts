import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addBackupCheckCommand } from './backup-check.ts';
import { addCampaignCommands } from './campaign.ts';
import { addDbCommands } from './db.ts';
import { addEraseCommand } from './erase.ts';
import { addEventsCommands } from './events.ts';
import { exitCodes } from './exit-codes.ts';
import { addExportCommand } from './export.ts';
import { describeFailure, explainFailure } from './failure.ts';
import { commonHelp } from './help.ts';
import { addImportCommand } from './import.ts';
import { addKeyCommands } from './key.ts';
import { addLandingPageCommands } from './landing-page.ts';
import { addMigrateCommand } from './migrate.ts';
import { printNotice } from './output.ts';
import { addQuarantineCommands } from './quarantine.ts';
import { addRetentionCommands } from './retention.ts';
import { isDebugging } from './settings.ts';
import { addTokenCommands } from './token.ts';
import { addUserCommands } from './user.ts';

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
