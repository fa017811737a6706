import { listStatusAliases, StatusAliasesAnswer } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { commonErrors, errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that lists the status aliases of the workspace. */
export function listStatusAliasesRoute(app: Server, context: CrmContext): void {
  app.get(
    '/status-aliases',
    {
      config: { permission: 'manageStatusAliases', scope: 'leads:read' },
      schema: {
        operationId: 'listStatusAliases',
        tags: ['leads'],
        summary: 'List the status aliases',
        description:
          'A status alias is a name of the workspace for a status, such as the word of a call center. Requires the role owner or manager.',
        querystring: Type.Object({}, { additionalProperties: false }),
        response: { 200: StatusAliasesAnswer, ...errorResponses('invalid_input', ...commonErrors) },
      },
    },
    async (request) => ({
      success: true as const,
      aliases: await listStatusAliases(context.statusAliases, request.principal),
    }),
  );
}
