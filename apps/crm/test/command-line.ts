import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { isConfidential } from '@leads/test-kit/log-check/confidential';
import { longTimeouts } from '@leads/test-kit/services';
import { runCli } from '../src/cli/program.ts';

/** The built command line. */
export const leadsProgram = resolve(import.meta.dirname, '../bin/leads.js');

/** The result of a command. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs as a process. */
export interface LeadsProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<CommandResult>;
  /** The output so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
}

/**
 * Starts the built command line as a process, with only `env` as its environment, and with long timeouts unless `env` sets
 * others. For tests of signals, pipes and the exit of the process.
 */
export function startLeads(args: readonly string[], env: NodeJS.ProcessEnv): LeadsProcess {
  const child = spawn(process.execPath, [leadsProgram, ...args], {
    env: { PATH: process.env['PATH'], ...longTimeouts, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => undefined);
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return { child, ended, stdout: () => stdout, stderr: () => stderr };
}

/**
 * Runs a command in the process of the test, with only `env` as its environment and with `input` as its standard input.
 * A separate process would need 0.5 s of CPU time to load the program, which is more than most commands need.
 *
 * @param signal interrupts the command, as Ctrl-C does.
 * @throws Error if stderr contains a secret or personal data of a test.
 */
export async function runLeads(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input = '',
  signal: AbortSignal = new AbortController().signal,
): Promise<CommandResult> {
  const [stdout, stderr] = [collector(), collector()];
  const stdin = Readable.from(input === '' ? [] : [Buffer.from(input)]);
  const interruption = () => signal;
  const io = { stdin, stdout: stdout.stream, stderr: stderr.stream, interruption };
  // Loading modules blocks new connections. On a busy machine, it takes longer than the default timeout of 2 s.
  const code = await runCli(args, { ...io, env: { ...longTimeouts, ...env } });
  if (isConfidential(stderr.text()))
    throw new Error(`stderr contains confidential data of a test: ${stderr.text()}`);
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collector() {
  let text = '';
  const stream = new Writable({
    decodeStrings: false,
    write(piece, _encoding, done) {
      text += String(piece);
      done();
    },
  });
  return { stream, text: () => text };
}
