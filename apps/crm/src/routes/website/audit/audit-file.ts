import { AuditQuery } from '@leads/core/audit';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { auditCsv, sendAuditLog } from '../../api/audit/list-audit-log.ts';

const { action, actorId, from, to } = AuditQuery.properties;
/** The filters of the list, and the workspace of the page. It is in the query because a link cannot send headers. */
const LinkQuery = Type.Object(
  { action, actorId, from, to, workspaceId: Type.Optional(Type.String({ maxLength: 255 })) },
  { additionalProperties: false },
);

/** Registers the route that exports the audit log as a file. A link of the website cannot send an `Accept` header. */
export function auditFileRoute(app: Server, context: CrmContext): void {
  app.get(
    '/audit.csv',
    {
      config: { permission: 'readAudit' },
      schema: {
        querystring: LinkQuery,
        response: {
          200: { description: 'Every matching entry.', content: auditCsv },
          ...errorResponses('invalid_input', ...sessionErrors),
        },
      },
    },
    async (request, reply) => {
      const { workspaceId: _, ...query } = request.query;
      return sendAuditLog(context, request, reply, query);
    },
  );
}
