import type { IncomingMessage } from 'node:http';
import { LeadsError } from '@leads/core/errors';
import type { FastifyRequest } from 'fastify';
import type { Server } from './create-server.ts';

/** How slow a long body may come, and when it is not wanted any more. */
export interface LongBodyOptions {
  /** Without a byte for so long, in milliseconds, the request is cut; a wait of the service's own does not count. */
  readonly idleMs?: number;
  /** Beyond that, a body must come at this rate on average. */
  readonly bytesPerSecond?: number;
  /** Ends the reading, with its reason. */
  readonly signal?: AbortSignal;
}

/** How long what still comes of a body that is not wanted any more is read, so that the answer can be. */
const drainMs = 10_000;

/**
 * The routes of a scope take bodies of one media type and of any length, which the handler reads by
 * {@link readLongBody}. Validation sees an empty text.
 */
export function takeLongBodies(scope: Server, mediaType: string): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(mediaType, (_request, _payload, done) => done(null, ''));
}

/**
 * The body of a request as it comes, read no faster than it is taken. It need not have arrived within the time that
 * other requests have, but it must go on coming.
 *
 * @throws LeadsError `request_timeout` for a body that comes too slowly; `bad_request` for one that ends early; the
 *   reason of `signal`.
 */
export async function* readLongBody(
  request: FastifyRequest,
  { idleMs = 30_000, bytesPerSecond = 1024, signal }: LongBodyOptions = {},
): AsyncGenerator<Buffer, void, undefined> {
  const { raw, server } = request;
  const { socket } = raw;
  let wake: () => void = () => undefined;
  const onChange = () => wake();
  const events = ['readable', 'end', 'error', 'close'] as const;
  for (const event of events) raw.on(event, onChange);
  signal?.addEventListener('abort', onChange);
  server.unhurried.add(socket);
  let bytes = 0;
  let waitedMs = 0;
  try {
    for (;;) {
      const piece = raw.read() as Buffer | null;
      if (piece !== null) {
        bytes += piece.length;
        yield piece;
        continue;
      }
      if (raw.readableEnded) return;
      if (raw.destroyed) {
        // With nobody to answer there is no other line about the request.
        request.log.info('The request body ended early');
        throw new LeadsError('bad_request', { message: 'The request body ended early' });
      }
      signal?.throwIfAborted();
      const leftMs = Math.min(idleMs, idleMs + (bytes / bytesPerSecond) * 1000 - waitedMs);
      const since = performance.now();
      const isInTime = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), Math.max(0, leftMs));
        wake = () => {
          clearTimeout(timer);
          resolve(true);
        };
      });
      waitedMs += performance.now() - since;
      if (!isInTime) throw new LeadsError('request_timeout');
    }
  } finally {
    server.unhurried.delete(socket);
    for (const event of events) raw.off(event, onChange);
    signal?.removeEventListener('abort', onChange);
    drain(raw);
  }
}

/** A client that still sends would not read the answer of a server that hangs up on it. */
function drain(raw: IncomingMessage): void {
  if (raw.readableEnded || raw.destroyed) return;
  const timer = setTimeout(() => raw.socket.destroy(), drainMs);
  raw.once('close', () => clearTimeout(timer));
  raw.once('end', () => clearTimeout(timer));
  raw.on('error', () => undefined);
  raw.resume();
}
