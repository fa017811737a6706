import { LeadColumnQuery, LeadColumnValues, listLeadColumns } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/**
 * Registers the route that returns further columns of listed leads. It exists because the list of the API has exactly the
 * fields of the specification (2.2). The website calls it for visible rows and chosen columns only, so that the list
 * stays as fast.
 */
export function listLeadColumnsRoute(app: Server, context: CrmContext): void {
  app.get(
    '/lead-columns',
    {
      config: { permission: 'member' },
      schema: {
        querystring: LeadColumnQuery,
        response: { 200: Type.Array(LeadColumnValues), ...errorResponses('invalid_input', ...sessionErrors) },
      },
    },
    ({ principal, query }) => listLeadColumns(context.leads, principal, query),
  );
}
