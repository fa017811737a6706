import { csvBounds } from '@leads/core/csv';
import { LeadsError } from '@leads/core/errors';
import {
  IdempotencyKey,
  ImportAnswer,
  type ImportRejection,
  importLeads,
  maxListedRejections,
  NewLead,
} from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { readLongBody, takeLongBodies } from '@leads/http/server/long-body';
import { createBodyCheck } from '@leads/http/server/validation-errors';
import { ofRequest } from '@leads/http/service/trace-leads';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

const Csv = Type.String({
  description:
    'CSV (RFC 4180) in UTF-8, of any length: a header line, then a lead a line, up to 64 KiB a cell. Separators may be commas, semicolons or tabs.',
  examples: [
    'campaignCode,name,phone,email,Utm Source\r\nDEMO,Ada Lovelace,+44 20 7946 0958,ada@example.io,newsletter\r\n',
  ],
});

/** Create the leads of a CSV file, by the rules of a single create (specification, 4.1). */
export function importLeadsRoute(app: Server, context: CrmContext): void {
  takeLongBodies(app, 'text/csv');
  const { transfers } = context;
  const validate = createBodyCheck(NewLead);
  app.post(
    '/order/leads/import',
    {
      config: { permission: 'member' },
      schema: {
        operationId: 'importLeads',
        tags: ['leads'],
        summary: 'Create the leads of a CSV file',
        description:
          'Columns are told by their names in the header line: those of a new lead in any spelling (`Campaign Code`, `campaign_code`), `extra` as a JSON object; what an export has besides is passed over, as are the columns that `ignore` names; and any other column is kept in `extra`. Empty cells are absent fields. An apostrophe in front of what looks like a formula is taken off. Each line is stored or rejected for itself, as it comes: what is stored before an error stays. With `Idempotency-Key`, a file that is sent again adds only the lines that are not stored yet; without it, all of them again.',
        querystring: Type.Object(
          {
            campaignCode: Type.Optional(
              Type.String({
                minLength: 1,
                description: 'Code of the campaign for lines that name none.',
                examples: ['DEMO'],
              }),
            ),
            ignore: Type.Optional(
              Type.Array(Type.String({ minLength: 1 }), {
                maxItems: csvBounds.cells,
                uniqueItems: true,
                description:
                  'Columns to leave out, named as the header of the file spells them: once for each, as in `?ignore=Internal%20notes&ignore=Score`. A name that the header does not have is an error, and so is one without which a required column is missing.',
                examples: [['Internal notes', 'Score']],
              }),
            ),
          },
          { additionalProperties: false },
        ),
        headers: Type.Object({ 'idempotency-key': Type.Optional(IdempotencyKey) }),
        body: { content: { 'text/csv': { schema: Csv } } },
        response: {
          200: ImportAnswer,
          ...errorResponses(
            'invalid_input',
            'bad_request',
            'request_timeout',
            'unsupported_media_type',
            ...commonErrors,
          ),
        },
      },
      onRequest: async (request) => rejectEncoded(request),
      // A parameter that is given once arrives as a text.
      preValidation: async ({ query }) => {
        if (typeof query.ignore === 'string') query.ignore = [query.ignore];
      },
    },
    async (request) => {
      const { campaignCode, ignore } = request.query;
      const end = transfers.begin('import');
      const rejections: ImportRejection[] = [];
      try {
        const file = readLongBody(request, { signal: transfers.stopping });
        const report = await importLeads(
          { ...context, leads: ofRequest(context.leads, request) },
          request.principal,
          file,
          {
            campaignCode,
            ignore,
            idempotencyKey: request.headers['idempotency-key'],
            validate,
            signal: transfers.stopping,
            onRejection(rejection) {
              if (rejections.length < maxListedRejections) rejections.push(rejection);
            },
          },
        );
        const truncated = report.rejected > rejections.length;
        return { success: true as const, ...report, rejections, truncated };
      } finally {
        end();
      }
    },
  );
}

/** Rejects bodies that are compressed or declare another charset than UTF-8. */
function rejectEncoded({ headers }: FastifyRequest): void {
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding.trim().toLowerCase() !== 'identity') {
    throw new LeadsError('unsupported_media_type', {
      fields: [
        { at: 'header', path: 'content-encoding', reason: 'must be left out: send the file as it is' },
      ],
    });
  }
  const charset = /;\s*charset="?([^";\s]*)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    throw new LeadsError('unsupported_media_type', {
      fields: [{ at: 'header', path: 'content-type', reason: 'must say UTF-8 or no charset' }],
    });
  }
}
