import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/*
 * The process of the receivers. Its parent sends the kinds of the receivers over the IPC channel, gets their ports, and
 * requests the received deliveries.
 */

/** How a receiver answers: with a status after a time, or never. */
export type ReceiverKind = { readonly status: number; readonly delayMs: number } | 'hangs';

/** The messages to the process. `take` also starts new records. */
export type ReceiverOrder =
  | { readonly kinds: readonly ReceiverKind[]; readonly certificate?: ReceiverCertificate | undefined }
  | 'take';

/** A certificate and its key, in PEM format. */
export interface ReceiverCertificate {
  readonly cert: string;
  readonly key: string;
}

/** What has arrived at one receiver. */
export interface ReceivedEvents {
  /** The number of requests by `webhook-id`. */
  readonly requests: ReadonlyMap<string, number>;
  /** The time from the event to its first request, in milliseconds. */
  readonly latenciesMs: readonly number[];
}

class Receiver {
  #requests = new Map<string, number>();
  #latenciesMs: number[] = [];
  readonly #kind: ReceiverKind;

  constructor(kind: ReceiverKind) {
    this.#kind = kind;
  }

  /** @param certificate for https. */
  async listen(certificate?: ReceiverCertificate): Promise<number> {
    const listener: RequestListener = (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        this.#record(String(request.headers['webhook-id']), Buffer.concat(pieces));
        this.#answer(response);
      });
    };
    const server =
      certificate === undefined ? createServer(listener) : createTlsServer(certificate, listener);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  #record(id: string, body: Buffer): void {
    const before = this.#requests.get(id) ?? 0;
    this.#requests.set(id, before + 1);
    // The text is searched, because parsing takes processor time from the measured programs.
    const time = /"time":"([^"]+)"/.exec(body.toString('latin1'))?.[1];
    if (before === 0 && time !== undefined) this.#latenciesMs.push(Date.now() - Date.parse(time));
  }

  #answer(response: ServerResponse): void {
    const kind = this.#kind;
    if (kind === 'hangs') return;
    setTimeout(() => response.writeHead(kind.status).end(), kind.delayMs);
  }

  take(): ReceivedEvents {
    const taken = { requests: this.#requests, latenciesMs: this.#latenciesMs };
    this.#requests = new Map();
    this.#latenciesMs = [];
    return taken;
  }
}

let receivers: Receiver[] = [];

async function open(kinds: readonly ReceiverKind[], certificate?: ReceiverCertificate): Promise<number[]> {
  receivers = kinds.map((kind) => new Receiver(kind));
  return Promise.all(receivers.map((receiver) => receiver.listen(certificate)));
}

process.on('message', (order: ReceiverOrder) => {
  if (order === 'take') process.send?.(receivers.map((receiver) => receiver.take()));
  else void open(order.kinds, order.certificate).then((ports) => process.send?.(ports));
});
process.on('disconnect', () => process.exit());
