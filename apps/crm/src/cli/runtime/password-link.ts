import { createAccounts } from '@leads/core/account';
import type { Command } from 'commander';
import { publicUrlOf } from '../../public-url.ts';
import { parseEmail } from './arguments.ts';
import { CliError } from './cli-error.ts';
import { examples, jsonOption } from './help.ts';
import { openOperator } from './operator.ts';
import { type OutputOptions, printResult } from './output.ts';
import { PasswordLinkSettings, readSettings, SigningSettings } from './settings.ts';

interface PasswordLinkOptions extends OutputOptions {
  readonly email: string;
}

/** `leads user password-link` */
export function addPasswordLinkCommand(user: Command): void {
  user
    .command('password-link')
    .summary('print a link by which a user chooses a password')
    .description(
      'Prints a link to the website, good once and for an hour, by which a user chooses a password: the first one of a user made here, or a new one where no mails are sent. Hand it to nobody else.',
    )
    .requiredOption('--email <address>', "the user's email address", parseEmail)
    .addOption(jsonOption())
    .addHelpText('after', examples('leads user password-link --email ada@example.com'))
    .action(printPasswordLink);
}

async function printPasswordLink(options: PasswordLinkOptions): Promise<void> {
  const { JWT_SECRET } = readSettings(SigningSettings);
  const publicUrl = publicUrlOf(readSettings(PasswordLinkSettings));
  await using operator = openOperator();
  const accounts = createAccounts({
    ...operator.accounts,
    workspaces: operator.workspaces,
    secret: JWT_SECRET,
    publicUrl,
    signUp: false,
    onError(error) {
      throw error;
    },
  });
  const link = await accounts.passwordLink(options.email);
  if (link === undefined) throw new CliError(`There is no user ${options.email}`);
  printResult(options, { email: options.email, link }, `Good once, for an hour:\n\n  ${link}`);
}
