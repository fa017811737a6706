import { runCli } from './program.ts';
import { CliError, exitCodes } from './runtime/cli-error.ts';
import { printNotice } from './runtime/output.ts';

const { stdin, stdout, stderr, env } = process;

stdout.on('error', (error: NodeJS.ErrnoException) => {
  // EPIPE is not an error: the reader, such as `head`, has closed the pipe.
  if (error.code === 'EPIPE') return;
  process.exitCode = exitCodes.failed;
  printNotice({ stderr }, `error: The result cannot be written: ${error.message}`);
});

const exitCode = await runCli(process.argv.slice(2), { stdin, stdout, stderr, env, interruption });
if (exitCode !== exitCodes.success) process.exitCode = exitCode;

function interruption(): AbortSignal {
  const controller = new AbortController();
  const interrupt = () => controller.abort(new CliError('Interrupted'));
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  return controller.signal;
}
