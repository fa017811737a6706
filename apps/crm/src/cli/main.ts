import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { addCampaignCommands } from './campaign.ts';
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
import { isDebugging } from './settings.ts';
import { addTokenCommands } from './token.ts';
import { addUserCommands } from './user.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const program = new Command('leads')
  .description("The operator's command line of the lead-management services.")
  .version(version)
  .exitOverride()
  .addHelpText('afterAll', ({ command }) => commonHelp(command));
addMigrateCommand(program);
addUserCommands(program);
addCampaignCommands(program);
addLandingPageCommands(program);
addKeyCommands(program);
addTokenCommands(program);
addImportCommand(program);
addExportCommand(program);
addQuarantineCommands(program);
addEventsCommands(program);

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has had enough, such as `head`, is no failure.
  if (error.code === 'EPIPE') return;
  process.exitCode = exitCodes.refused;
  printNotice(`error: The result cannot be written: ${error.message}`);
});

try {
  await program.parseAsync();
} catch (error) {
  const { exitCode, line } = describeFailure(error);
  process.exitCode = exitCode;
  if (line !== undefined) {
    printNotice(`error: ${line}`);
    if (isDebugging()) process.stderr.write(`${explainFailure(error)}\n`);
  }
}
