import type { Readable, Writable } from 'node:stream';

/** The streams, environment and signals of one run of the command line. */
export interface CliIo {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined };
  readonly stdout: Writable & { readonly columns?: number | undefined };
  readonly stderr: Writable & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };
  readonly env: NodeJS.ProcessEnv;
  /** Returns a signal that aborts on the first Ctrl-C or SIGTERM. A second one ends the process. */
  readonly interruption: () => AbortSignal;
}
