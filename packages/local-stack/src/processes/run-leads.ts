import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';
import { serviceEnvironment } from './service-environment.ts';

const program = join(repositoryRoot, 'apps/crm/bin/leads.js');

/**
 * Runs the operator's command line, `leads <args> --json`.
 *
 * @param env `DATABASE_URL`, and `JWT_SECRET` to create a token.
 * @returns the parsed output; undefined if there is none.
 * @throws Error with the last line of stderr if the exit code is not 0.
 */
export async function runLeads(args: readonly string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  const stdout = await new Promise<string>((resolve, reject) => {
    execFile(
      process.execPath,
      [program, ...args, '--json'],
      { env: serviceEnvironment(env), encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
      (error, out, err) => {
        if (error === null) resolve(out);
        // Earlier lines may be warnings.
        else reject(new Error(`leads ${args.slice(0, 2).join(' ')}: ${lastLine(err) ?? error.message}`));
      },
    );
  });
  return stdout.trim() === '' ? undefined : JSON.parse(stdout);
}

function lastLine(stderr: string): string | undefined {
  const line = stderr.trimEnd().split('\n').at(-1);
  return line === '' ? undefined : line?.replace(/^error: /, '');
}
