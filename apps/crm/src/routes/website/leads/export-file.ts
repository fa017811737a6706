import { type ExportFormat, LeadFilterQuery } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { type ExportType, exportContent, exportTypes, sendExport } from '../../api/leads/export-leads.ts';

/** The filters of the list, and the workspace of the page. It is in the query because a link cannot send headers. */
const LinkQuery = Type.Object(
  { ...LeadFilterQuery.properties, workspaceId: Type.Optional(Type.String({ maxLength: 255 })) },
  { additionalProperties: false },
);

/**
 * Registers the routes that export every matching lead as a file. The list of leads exports by its `Accept` header.
 * These routes exist because a link of the website cannot send that header.
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
            200: { description: 'Every matching lead.', content: exportContent },
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
