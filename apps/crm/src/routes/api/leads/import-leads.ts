import { csvBounds } from '@leads/core/csv';
import {
  IdempotencyKey,
  ImportAnswer,
  type ImportReport,
  importLeads,
  NewLead,
  storable,
} from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { createBodyCheck } from '@leads/http/server/validation-errors';
import { withTraceparent } from '@leads/http/service/trace-leads';
import { Type } from 'typebox';
import { importBody, rejectEncoded } from './csv-body.ts';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';

const Csv = Type.String({
  description:
    'CSV (RFC 4180) in UTF-8, of any length: a header line, then one lead in each line. The cells of a line have up to 64 KiB together, without those of skipped columns. The separator is a comma, a semicolon or a tab.',
  examples: [
    'campaignCode,name,phone,email,Utm Source\r\nDEMO,Ada Lovelace,+44 20 7946 0958,ada@example.io,newsletter\r\n',
  ],
});

/** Registers the route that creates the leads of a CSV file, in a scope that accepts only CSV bodies, by the rules of a single create (specification, 4.1). */
export function importLeadsRoute(app: Server, context: CrmContext): void {
  const validate = createBodyCheck(NewLead);
  app.post(
    '/order/leads/import',
    {
      config: { permission: 'member', scope: 'leads:write' },
      schema: {
        operationId: 'importLeads',
        tags: ['leads'],
        summary: 'Create the leads of a CSV file',
        description:
          'The header line names the columns. The fields of a new lead may have any spelling (`Campaign Code`, `campaign_code`); `extra` is a JSON object. The columns of an export that the service sets, such as `id` and `createdAt`, and the columns in `ignore` are skipped. Any other column is stored in `extra`, also `s1`, `lpName` and `state`. Empty cells are absent fields. An apostrophe before a value that looks like a formula is removed. Each line is stored or rejected separately, as it arrives. The lines that are stored before an error remain stored. With `Idempotency-Key`, sending a file again adds only the lines that are not stored yet. Without it, all lines are added again.',
        querystring: Type.Object(
          {
            campaignCode: Type.Optional(
              Type.String({
                minLength: 1,
                ...storable,
                description: 'Code of the campaign for lines without a campaign code.',
                examples: ['DEMO'],
              }),
            ),
            ignore: Type.Optional(
              Type.Array(Type.String({ minLength: 1 }), {
                maxItems: csvBounds.cells,
                uniqueItems: true,
                description:
                  'Columns to skip, spelled as in the header line. Repeat the parameter for each column, as in `?ignore=Internal%20notes&ignore=Score`. A column that the header line does not contain is an error. A required column cannot be skipped.',
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
      // A parameter that is given once arrives as a string.
      preValidation: async ({ query }) => {
        if (typeof query.ignore === 'string') query.ignore = [query.ignore];
      },
    },
    async (request) => {
      const { principal, query } = request;
      // The address is unknown after the client has disconnected.
      const origin = auditOrigin(request);
      const record = ({ accepted, duplicates, repeated, rejected }: ImportReport, isComplete?: false) =>
        context.recordAction(origin, {
          action: 'leads.imported',
          scope: principal,
          details: { accepted, duplicates, repeated, rejected, isComplete },
        });
      return importBody(context.transfers, request, record, (file, options) =>
        importLeads({ ...context, leads: withTraceparent(context.leads, request) }, principal, file, {
          ...options,
          campaignCode: query.campaignCode,
          ignore: query.ignore,
          idempotencyKey: request.headers['idempotency-key'],
          validate,
        }),
      );
    },
  );
}
