import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ReceivedEvents, ReceiverKind, ReceiverOrder } from './receiver-process.ts';

/** Receivers of webhooks in a process of their own. */
export interface Receivers extends AsyncDisposable {
  /** The URL of each receiver. */
  readonly urls: readonly string[];
  /** Returns what each receiver has got since the last call. */
  take(): Promise<readonly ReceivedEvents[]>;
}

export async function startReceivers(kinds: readonly ReceiverKind[]): Promise<Receivers> {
  // JSON, the default serialization, has no maps.
  const child = fork(join(import.meta.dirname, 'stack/receiver-process.js'), {
    execArgv: [],
    serialization: 'advanced',
  });
  const ask = async (order: ReceiverOrder): Promise<unknown> => {
    const answer = once(child, 'message');
    child.send(order);
    return (await answer)[0];
  };
  const ports = (await ask({ kinds })) as number[];
  return {
    urls: ports.map((port) => `http://127.0.0.1:${port}/hook`),
    take: () => ask('take') as Promise<ReceivedEvents[]>,
    async [Symbol.asyncDispose]() {
      child.kill();
    },
  };
}
