import { Readable } from 'node:stream';
import { atPace, Pace } from '@leads/http/server/pace';
import { onResponseEnd } from '@leads/http/server/response-end';
import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import type { TransferLimits } from '../../transfer-limits.ts';
import { verifyTransfer } from '../../verify-again.ts';

/** The media type of CSV files, with the parameters of RFC 4180, 3. */
export const csvType = 'text/csv; charset=utf-8; header=present';

/** A file to send. */
interface SentFile {
  readonly type: string;
  readonly name: string;
  /** The texts of the file. An error of the first one gets an error response. A later error can only abort the response. */
  readonly texts: AsyncGenerator<string, void, undefined>;
  /** Records the export. It is not called for a HEAD request. */
  readonly record?: () => Promise<void>;
}

/**
 * Sends a file as one export of the workspace of the request, as fast as the client reads. The connection ends if the
 * credentials of the request are revoked.
 *
 * @throws LeadsError as {@link TransferLimits.begin} does; `unauthenticated` and `forbidden` if the credentials are revoked
 *   before the first text; the error of the first text.
 */
export async function sendFile(
  reply: FastifyReply,
  transfers: TransferLimits,
  { type, name, texts, record }: SentFile,
): Promise<FastifyReply> {
  const { request, log, raw } = reply;
  onResponseEnd(reply, transfers.begin('export', request.principal));
  const { signal, end } = verifyTransfer(request);
  onResponseEnd(reply, end);
  const first = await texts.next();
  if (request.method !== 'HEAD') await record?.();
  signal.throwIfAborted();
  reply.type(type).header('vary', 'Accept').header('content-disposition', `attachment; filename="${name}"`);
  if (request.method === 'HEAD') {
    await texts.return();
    // A text would have a length, which HEAD must not give (RFC 9110, 8.6).
    return reply.send(Readable.from([]));
  }
  signal.addEventListener('abort', () => {
    log.info({ err: signal.reason as unknown }, 'Export aborted: its credentials are no longer valid');
    raw.destroy();
  });
  const paced = atPace(allTexts(first, texts, transfers, log), new Pace(), () => {
    log.info('Export aborted: the client reads too slowly');
    raw.destroy();
  });
  return reply.send(Readable.from(paced, { objectMode: false }));
}

async function* allTexts(
  first: IteratorResult<string, void>,
  others: SentFile['texts'],
  transfers: TransferLimits,
  log: FastifyBaseLogger,
): AsyncGenerator<string> {
  try {
    if (first.done !== true) yield first.value;
    for await (const text of others) {
      yield text;
      // An export saturates a core. Without the pause, creating a lead meanwhile took 4 times as long.
      await transfers.yieldToRequests();
    }
  } catch (error) {
    // The server closes the connection and logs no line itself.
    log.error({ err: error }, 'Export aborted; the client has received an incomplete file');
    throw error;
  } finally {
    await others.return();
  }
}
