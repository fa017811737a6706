import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** A received request. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A receiver of webhooks on a port of its own. */
export interface WebhookReceiver extends AsyncDisposable {
  readonly url: string;
  /** All requests so far, oldest first. */
  readonly received: readonly Received[];
  /** Changes how requests are answered. A new receiver answers 204. */
  answer: (response: ServerResponse, request: Received) => void;
}

/** Starts a receiver. */
export async function startReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      const each = { path: request.url ?? '', headers, body };
      received.push(each);
      receiver.answer(response, each);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (response) => response.writeHead(204).end(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}

/** Answers with a status code, headers and a body. */
export function answering(status: number, headers: Record<string, string> = {}, body = '') {
  return (response: ServerResponse) => void response.writeHead(status, headers).end(body);
}

/** Returns the content of a request. @throws Error if its signature is not of the secret. */
export function verified({ headers, body }: Received, secret: string): unknown {
  return new Webhook(secret).verify(body, headers);
}
