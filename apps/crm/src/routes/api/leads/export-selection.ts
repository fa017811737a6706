import { LeadExport } from '@leads/core/lead';
import { preferredType } from '@leads/http/server/accept';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';
import { type ExportType, exportContent, exportHeaders, exportTypes, sendExport } from './export-leads.ts';

const types = Object.keys(exportTypes) as [ExportType, ...ExportType[]];

/** Registers the route that exports leads by their ids. */
export function exportSelectionRoute(app: Server, context: CrmContext): void {
  app.post(
    '/order/leads/export',
    {
      config: { permission: 'member', scope: 'leads:read' },
      schema: {
        operationId: 'exportLeads',
        tags: ['leads'],
        summary: 'Export leads by their ids',
        description:
          'Returns the given leads with all of their fields, as CSV or, with `Accept: application/x-ndjson`, as NDJSON. To export every lead that matches filters, list leads with `Accept: text/csv`.',
        body: LeadExport,
        response: {
          200: { description: 'The leads as a file.', headers: exportHeaders, content: exportContent },
          ...errorResponses(...bodyErrors, ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const { principal, body } = request;
      const { ids, ...query } = body;
      const type = preferredType(request.headers.accept, types);
      return sendExport(reply, { context, principal, query, ids, type });
    },
  );
}
