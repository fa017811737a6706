import { LeadsError } from '@leads/core/errors';
import { Option } from 'commander';
import { CliError } from './cli-error.ts';
import type { OutputOptions } from './output.ts';

/** What both commands that move leads take. */
export interface TransferOptions extends OutputOptions {
  readonly workspace?: string;
  readonly quiet?: true;
}

export function quietOption(): Option {
  return new Option('--quiet', 'tell nothing of how it goes');
}

/** Aborted by Ctrl-C and SIGTERM, once; a second one ends the process at once. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => controller.abort(new CliError('Interrupted'));
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  return controller.signal;
}

/** A refusal of the use case in the words of the command line; any other error as it is. */
export function inWords(error: unknown): unknown {
  if (!(error instanceof LeadsError) || error.code !== 'invalid_input') return error;
  const reasons = error.fields.map(({ path = '', reason }) => `${path} ${reason}`.trim());
  return new CliError(reasons.length === 0 ? error.message : reasons.join('; '), { cause: error });
}
