import { AuditEntryView, AuditQuery, exportAuditLog, listAuditLog } from '@leads/core/audit';
import { LeadsError } from '@leads/core/errors';
import { preferredType } from '@leads/http/server/accept';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';
import { linkHeader, linkNextPage } from '../page-links.ts';
import { csvType, sendFile } from '../send-file.ts';

/** The content of an export of the audit log in the response of a route. */
export const auditCsv = {
  'text/csv': {
    schema: Type.String({
      description: 'Every matching entry, as CSV (RFC 4180) with a header line. `details` is JSON.',
      examples: ['id,at,action,source,actorId,actorEmail,apiKeyId,address,userAgent,targetId,details\r\n'],
    }),
  },
};

/** Registers the route that lists the audit log of the workspace. */
export function listAuditLogRoute(app: Server, context: CrmContext): void {
  app.get(
    '/audit',
    {
      config: { permission: 'readAudit', scope: 'admin' },
      schema: {
        operationId: 'listAuditLog',
        tags: ['audit log'],
        summary: 'List the audit log, newest first',
        description:
          'Lists sign-ins, and changes of keys, tokens, roles, invitations and settings, as well as imports, exports and erasures. With `Accept: text/csv`, the response contains every matching entry. An export does not accept `limit` and `cursor`. Requires the role owner.',
        querystring: AuditQuery,
        response: {
          200: {
            description: 'One page of the audit log, or all matching entries as a file.',
            headers: {
              Link: linkHeader,
              'Content-Disposition': {
                description: 'The name of an exported file: `audit-`, the date, and `.csv`.',
                type: 'string',
              },
            },
            content: {
              'application/json': {
                schema: Type.Array(AuditEntryView, { description: 'One page of the audit log.' }),
              },
              ...auditCsv,
            },
          },
          ...errorResponses('invalid_input', 'invalid_cursor', ...commonErrors),
        },
      },
    },
    async (request, reply) => {
      const { query, principal } = request;
      reply.header('vary', 'Accept');
      if (preferredType(request.headers.accept, ['application/json', csvType]) === csvType) {
        return sendAuditLog(context, request, reply, query);
      }
      const { entries, nextCursor } = await listAuditLog(context.auditStore, principal.workspaceId, query);
      linkNextPage(request, reply, query, nextCursor);
      return entries;
    },
  );
}

/** Sends every matching entry as a CSV file. */
export async function sendAuditLog(
  { exportReads, recordAction, transfers }: CrmContext,
  request: FastifyRequest,
  reply: FastifyReply,
  query: AuditQuery,
): Promise<FastifyReply> {
  const given = (['limit', 'cursor'] as const).filter((name) => query[name] !== undefined);
  if (given.length > 0) {
    throw new LeadsError('invalid_input', {
      fields: given.map((path) => ({ at: 'query', path, reason: 'is not allowed in an export' })),
    });
  }
  const { workspaceId } = request.principal;
  return sendFile(reply, transfers, {
    type: csvType,
    name: `audit-${new Date().toISOString().slice(0, 10)}.csv`,
    texts: exportAuditLog(exportReads.auditStore, workspaceId, query),
    record: () => recordAction(auditOrigin(request), { action: 'audit.exported', scope: { workspaceId } }),
  });
}
