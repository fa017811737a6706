import { runProgram } from './program.ts';
import { exitCodes } from './runtime/exit-codes.ts';
import { printNotice } from './runtime/output.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has had enough, such as `head`, is no failure.
  if (error.code === 'EPIPE') return;
  process.exitCode = exitCodes.refused;
  printNotice(`error: The result cannot be written: ${error.message}`);
});

await runProgram(process.argv.slice(2));
