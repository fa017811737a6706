import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ReceivedEvents, ReceiverCertificate, ReceiverKind, ReceiverOrder } from './receiver-process.ts';

/** The domain of receivers with https. Its names have the addresses of this machine (RFC 6761, 6.3). */
export const receiverDomain = 'receivers.localhost';

/** Receivers of webhooks in a process of their own. */
export interface Receivers extends AsyncDisposable {
  readonly pid: number;
  /** The URL of each receiver. */
  readonly urls: readonly string[];
  /** Returns what each receiver has got since the last call. */
  take(): Promise<readonly ReceivedEvents[]>;
}

/** @param certificate for https. Each receiver then has a name of its own: `r<number>.{@link receiverDomain}`. */
export async function startReceivers(
  kinds: readonly ReceiverKind[],
  certificate?: ReceiverCertificate,
): Promise<Receivers> {
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
  const ports = (await ask({ kinds, certificate })) as number[];
  return {
    pid: child.pid ?? 0,
    urls: ports.map((port, at) =>
      certificate === undefined
        ? `http://127.0.0.1:${port}/hook`
        : `https://r${at}.${receiverDomain}:${port}/hook`,
    ),
    take: () => ask('take') as Promise<ReceivedEvents[]>,
    async [Symbol.asyncDispose]() {
      child.kill();
    },
  };
}
