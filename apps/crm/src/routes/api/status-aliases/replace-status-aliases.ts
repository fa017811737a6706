import { replaceStatusAliases, StatusAliases, StatusAliasesAnswer } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, commonErrors, errorResponses } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that replaces the status aliases of the workspace. */
export function replaceStatusAliasesRoute(app: Server, context: CrmContext): void {
  app.put(
    '/status-aliases',
    {
      config: { permission: 'manageStatusAliases', scope: 'admin' },
      schema: {
        operationId: 'replaceStatusAliases',
        tags: ['leads'],
        summary: 'Replace the status aliases',
        description:
          'Status changes, edits and imports of statuses accept an alias instead of a status. Case does not matter. The list replaces all aliases. Requires the role owner or manager.',
        body: StatusAliases,
        response: { 200: StatusAliasesAnswer, ...errorResponses(...bodyErrors, ...commonErrors) },
      },
    },
    async (request) => {
      const { principal } = request;
      const aliases = await replaceStatusAliases(context.statusAliases, principal, request.body.aliases);
      await context.recordAction(auditOrigin(request), {
        action: 'status_aliases.changed',
        scope: principal,
        details: { aliases: aliases.map(({ alias, status }) => `${alias}: ${status}`).join(', ') },
      });
      return { success: true as const, aliases };
    },
  );
}
