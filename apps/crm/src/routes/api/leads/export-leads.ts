import { Readable } from 'node:stream';
import type { Principal } from '@leads/core/credential';
import { LeadsError } from '@leads/core/errors';
import { type ExportFormat, exportLeads, type LeadQuery } from '@leads/core/lead';
import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import type { TransferLimits } from '../../../transfer-limits.ts';

/** A client that has taken nothing for so long, in milliseconds, is gone. */
const idleMs = 30_000;

/** Of `text/csv` the form of RFC 4180, 3; JSON by the line. */
export const exportTypes = {
  'text/csv; charset=utf-8; header=present': 'csv',
  'application/x-ndjson': 'ndjson',
} as const satisfies Record<string, ExportFormat>;
export type ExportType = keyof typeof exportTypes;

/** What an export is, beside a page of the list, in the response of its route. */
export const exportContent = {
  'text/csv': {
    schema: Type.String({
      description:
        'Every lead that matches, with all that is stored of it: CSV (RFC 4180) with a header line, one column for each field of a single lead, `extra` as JSON. What a spreadsheet could take for a formula, phone numbers that begin with + included, has an apostrophe in front.',
      examples: ["id,name,phone\r\n019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f,Ada Lovelace,'+44 20 7946 0958\r\n"],
    }),
  },
  'application/x-ndjson': {
    schema: Type.String({
      description:
        'Every lead that matches, with all that is stored of it: a line of JSON each, as a single lead is answered.',
    }),
  },
};

/** Parameters of a page; an export has none. */
const ofPages = ['limit', 'cursor', 'count'] as const;

/** Answers with every lead that matches, as fast as the client takes them. */
export async function sendExport(
  reply: FastifyReply,
  {
    context: { leads, transfers },
    principal,
    query,
    type,
  }: {
    context: CrmContext;
    principal: Principal;
    query: LeadQuery;
    type: ExportType;
  },
): Promise<FastifyReply> {
  const given = ofPages.filter((name) => query[name] !== undefined);
  if (given.length > 0) {
    throw new LeadsError('invalid_input', {
      fields: given.map((path) => ({ at: 'query', path, reason: 'does not go with an export' })),
    });
  }
  const format = exportTypes[type];
  const end = transfers.begin('export');
  reply.raw.once('close', end);
  const pieces = exportLeads(leads, principal, query, format, transfers.stopping);
  // What fails here is answered as any error is; from then on, by an answer that is not complete.
  const first = await pieces.next();

  reply
    .type(type)
    .header('vary', 'Accept')
    .header(
      'content-disposition',
      `attachment; filename="leads-${new Date().toISOString().slice(0, 10)}.${format}"`,
    );
  if (reply.request.method === 'HEAD') {
    await pieces.return();
    return reply.send('');
  }
  reply.raw.setTimeout(idleMs);
  return reply.send(Readable.from(textOf(first, pieces, transfers, reply.log), { objectMode: false }));
}

async function* textOf(
  first: IteratorResult<{ text: string }, void>,
  pieces: AsyncGenerator<{ text: string }, void, undefined>,
  transfers: TransferLimits,
  log: FastifyBaseLogger,
): AsyncGenerator<string> {
  try {
    if (first.done !== true) yield first.value.text;
    for await (const { text } of pieces) {
      yield text;
      // An export takes all that a core has to give: a create meanwhile took four times as long.
      await transfers.giveWay();
    }
  } catch (error) {
    // The server hangs up, without a line of its own.
    log.error({ err: error }, 'An export ended before it was complete');
    throw error;
  } finally {
    await pieces.return();
  }
}
