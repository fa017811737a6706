import { LeadPayoutQuery, ListedPayout, listLeadPayouts } from '@leads/core/lead';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/**
 * Registers the route that returns the payouts of listed leads. It exists because the list of the API has exactly the
 * fields of the specification (2.2).
 */
export function listLeadPayoutsRoute(app: Server, context: CrmContext): void {
  app.get(
    '/lead-payouts',
    {
      config: { permission: 'member' },
      schema: {
        querystring: LeadPayoutQuery,
        response: { 200: Type.Array(ListedPayout), ...errorResponses('invalid_input', ...sessionErrors) },
      },
    },
    ({ principal, query }) => listLeadPayouts(context.leads, principal, query),
  );
}
