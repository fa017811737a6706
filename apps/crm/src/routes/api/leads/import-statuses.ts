import {
  IdempotencyKey,
  importStatuses,
  StatusImportAnswer,
  StatusImportLine,
  type StatusImportReport,
} from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { createBodyCheck } from '@leads/http/server/validation-errors';
import { withTraceparent } from '@leads/http/service/trace-leads';
import { Type } from 'typebox';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { importBody, rejectEncoded } from './csv-body.ts';

const Csv = Type.String({
  description:
    'CSV (RFC 4180) in UTF-8, of any length: a header line, then one lead in each line. The separator is a comma, a semicolon or a tab.',
  examples: ['s1,phone,status,reason\r\nclick-8f14e45f,+1 202 555 0143,Trashed,No answer\r\n'],
});

/** Registers the route that changes the statuses of the leads of a CSV file, in a scope that accepts only CSV bodies. */
export function importStatusesRoute(app: Server, context: CrmContext): void {
  const validate = createBodyCheck(StatusImportLine);
  app.post(
    '/order/leads/status/import',
    {
      config: { permission: 'changeStatuses', scope: 'leads:status' },
      schema: {
        operationId: 'importStatuses',
        tags: ['leads'],
        summary: 'Change the statuses of the leads of a CSV file',
        description:
          'The columns are `status`, `reason`, `id`, `s1`, `phone` and `campaignCode`. Other columns are skipped. Each line needs a `status`, and an `id`, `s1` or `phone`. A line without an `id` must match exactly one lead by its `s1`, `phone` and `campaignCode`. A status can be an alias of the workspace. Each line is applied or rejected separately, by the rules of a single change. With `Idempotency-Key`, sending a file again applies only the lines that changed no lead yet. Requires the role owner or manager.',
        querystring: Type.Object({}, { additionalProperties: false }),
        headers: Type.Object({ 'idempotency-key': Type.Optional(IdempotencyKey) }),
        body: { content: { 'text/csv': { schema: Csv } } },
        response: {
          200: StatusImportAnswer,
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
    },
    async (request) => {
      const { principal } = request;
      const leads = withTraceparent(context.currentLeads, request);
      // The address is unknown after the client has disconnected.
      const origin = auditOrigin(request);
      const record = ({ changed, unchanged, repeated, rejected }: StatusImportReport, isComplete?: false) =>
        context.recordAction(origin, {
          action: 'statuses.imported',
          scope: principal,
          details: { changed, unchanged, repeated, rejected, isComplete },
        });
      return importBody(context.transfers, request, record, (file, options) =>
        importStatuses({ ...context, leads }, principal, file, {
          ...options,
          idempotencyKey: request.headers['idempotency-key'],
          validate,
        }),
      );
    },
  );
}
