import type { IncomingMessage } from 'node:http';
import { LeadsError } from '@leads/core/errors';
import type { FastifyRequest } from 'fastify';
import type { Server } from './create-server.ts';
import { Pace, type PaceOptions } from './pace.ts';

/** The limits of reading a long body. The time that the handler takes does not count. */
export interface LongBodyOptions extends PaceOptions {
  /** Stops the reading and rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The longest time to read and discard the rest of a body, so that the client can read the response. */
const drainMs = 10_000;

/**
 * Accepts bodies of one media type and of any length on the routes of a scope. The handler reads them with
 * {@link readLongBody}. Validation sees an empty string.
 */
export function acceptLongBodies(scope: Server, mediaType: string): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(mediaType, (_request, _payload, done) => done(null, ''));
}

/**
 * Yields the body of a request as it arrives, with backpressure. The body may take longer than the timeout of other
 * requests, but it must keep arriving.
 *
 * @throws LeadsError `request_timeout` if the body arrives too slowly; `bad_request` if it ends early; the reason of
 *   `signal` if it is aborted.
 */
export async function* readLongBody(
  request: FastifyRequest,
  { signal, ...paceOptions }: LongBodyOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  const { raw, server } = request;
  const { socket } = raw;
  let wake: () => void = () => undefined;
  const onChange = () => wake();
  const events = ['readable', 'end', 'error', 'close'] as const;
  for (const event of events) raw.on(event, onChange);
  signal?.addEventListener('abort', onChange);
  server.unhurried.add(socket);
  const pace = new Pace(paceOptions);
  try {
    for (;;) {
      const piece = raw.read() as Buffer | null;
      if (piece !== null) {
        pace.count(piece.length);
        yield piece;
        continue;
      }
      if (raw.readableEnded) return;
      if (raw.destroyed) {
        throw new LeadsError('bad_request', { message: 'The request body ended early' });
      }
      signal?.throwIfAborted();
      const since = performance.now();
      const isInTime = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), pace.leftMs);
        wake = () => {
          clearTimeout(timer);
          resolve(true);
        };
      });
      pace.wait(performance.now() - since);
      if (!isInTime) throw new LeadsError('request_timeout');
    }
  } finally {
    server.unhurried.delete(socket);
    for (const event of events) raw.off(event, onChange);
    signal?.removeEventListener('abort', onChange);
    drain(raw);
  }
}

/** Discards the rest of a body: a client that is still sending does not read the response if the connection closes. */
function drain(raw: IncomingMessage): void {
  if (raw.readableEnded || raw.destroyed) return;
  const timer = setTimeout(() => raw.socket.destroy(), drainMs);
  raw.once('close', () => clearTimeout(timer));
  raw.once('end', () => clearTimeout(timer));
  raw.on('error', () => undefined);
  raw.resume();
}
