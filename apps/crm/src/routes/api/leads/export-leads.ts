import { Readable } from 'node:stream';
import type { Principal } from '@leads/core/credential';
import { LeadsError } from '@leads/core/errors';
import { type ExportFormat, exportLeads, type LeadQuery } from '@leads/core/lead';
import { atPace, Pace } from '@leads/http/server/pace';
import { onResponseEnd } from '@leads/http/server/response-end';
import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import type { TransferLimits } from '../../../transfer-limits.ts';

/** The time after which a client that reads nothing is disconnected, in milliseconds. */
const idleMs = 30_000;

/** The media types of exports: CSV with the parameters of RFC 4180, 3, and newline-delimited JSON. */
export const exportTypes = {
  'text/csv; charset=utf-8; header=present': 'csv',
  'application/x-ndjson': 'ndjson',
} as const satisfies Record<string, ExportFormat>;
export type ExportType = keyof typeof exportTypes;

/** The content of an export in the response of a route. */
export const exportContent = {
  'text/csv': {
    schema: Type.String({
      description:
        'Every matching lead with all of its fields, as CSV (RFC 4180) with a header line. There is one column for each field of a lead; `extra` is JSON. A value that a spreadsheet could interpret as a formula is prefixed with an apostrophe, for example a phone number that begins with +.',
      examples: ["id,name,phone\r\n019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f,Ada Lovelace,'+44 20 7946 0958\r\n"],
    }),
  },
  'application/x-ndjson': {
    schema: Type.String({
      description:
        'Every matching lead with all of its fields: one line of JSON each, in the format of a single lead.',
    }),
  },
};

/** The headers of an export in the response of a route. */
export const exportHeaders = {
  'Content-Disposition': {
    description: 'The name of an exported file: `leads-`, the date, and `.csv` or `.ndjson`.',
    type: 'string',
  },
} as const;

/** The parameters of a page, which an export does not accept. */
const pageParameters = ['limit', 'cursor', 'count'] as const;

/** Sends every matching lead, or those of some ids, as fast as the client reads. */
export async function sendExport(
  reply: FastifyReply,
  {
    context: { leads, recordAction, transfers },
    principal,
    query,
    ids,
    type,
  }: {
    context: CrmContext;
    principal: Principal;
    query: LeadQuery;
    /** Only these leads. */
    ids?: readonly string[];
    type: ExportType;
  },
): Promise<FastifyReply> {
  const given = pageParameters.filter((name) => query[name] !== undefined);
  if (given.length > 0) {
    throw new LeadsError('invalid_input', {
      fields: given.map((path) => ({ at: 'query', path, reason: 'is not allowed in an export' })),
    });
  }
  const format = exportTypes[type];
  const end = transfers.begin('export', principal.workspaceId);
  onResponseEnd(reply, end);
  const pieces = exportLeads(leads, principal, { ...query, ids }, format, transfers.stopping);
  // An error here gets an error response. A later error can only abort the response.
  const first = await pieces.next();
  if (reply.request.method !== 'HEAD') {
    await recordAction(auditOrigin(reply.request), {
      action: 'leads.exported',
      scope: principal,
      details: { format, filters: Object.keys(ids === undefined ? query : { ...query, ids }).join(', ') },
    });
  }

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
  const texts = atPace(textOf(first, pieces, transfers, reply.log), new Pace(), () => {
    reply.log.info('Export aborted: the client reads too slowly');
    reply.raw.destroy();
  });
  return reply.send(Readable.from(texts, { objectMode: false }));
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
      // An export saturates a core. Without the pause, creating a lead meanwhile took 4 times as long.
      await transfers.yieldToRequests();
    }
  } catch (error) {
    // The server closes the connection and logs no line itself.
    log.error({ err: error }, 'Export aborted; the client has received an incomplete file');
    throw error;
  } finally {
    await pieces.return();
  }
}
