import type { Principal } from '@leads/core/credential';
import { LeadsError } from '@leads/core/errors';
import { type ExportFormat, exportLeads, type LeadQuery } from '@leads/core/lead';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { csvType, sendFile } from '../send-file.ts';

/** The media types of exports: CSV, and newline-delimited JSON. */
export const exportTypes = {
  [csvType]: 'csv',
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
  return sendFile(reply, transfers, {
    type,
    name: `leads-${new Date().toISOString().slice(0, 10)}.${format}`,
    texts: textsOf(exportLeads(leads, principal, { ...query, ids }, format, transfers.stopping)),
    record: () =>
      recordAction(auditOrigin(reply.request), {
        action: 'leads.exported',
        scope: principal,
        details: { format, filters: Object.keys(ids === undefined ? query : { ...query, ids }).join(', ') },
      }),
  });
}

async function* textsOf(pieces: AsyncIterable<{ text: string }>): AsyncGenerator<string, void, undefined> {
  for await (const { text } of pieces) yield text;
}
