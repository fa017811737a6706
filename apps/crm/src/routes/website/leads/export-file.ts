import { type ExportFormat, LeadFilterQuery } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { type ExportType, exportContent, exportTypes, sendExport } from '../../api/leads/export-leads.ts';

/** The list's filters, and the workspace that the page with the link shows: no link can send it in a header. */
const LinkQuery = Type.Object(
  { ...LeadFilterQuery.properties, workspaceId: Type.Optional(Type.String({ format: 'uuid' })) },
  { additionalProperties: false },
);

/**
 * Every lead that matches, as a file: what the list answers to `Accept`, at an address of its own, since a link of
 * the website cannot send that header.
 */
export function exportFileRoutes(app: Server, context: CrmContext): void {
  for (const [type, format] of Object.entries(exportTypes) as [ExportType, ExportFormat][]) {
    app.get(
      `/order/leads.${format}`,
      {
        config: { permission: 'member' },
        schema: {
          querystring: LinkQuery,
          response: {
            200: { description: 'Every lead that matches.', content: exportContent },
            ...errorResponses('invalid_input', ...sessionErrors),
          },
        },
      },
      async ({ query, principal }, reply) => {
        await sendExport(reply, { context, principal, query, type });
        return reply;
      },
    );
  }
}
