import { Attention, getAttention } from '@leads/core/overview';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that returns what needs the attention of the signed-in member. */
export function getAttentionRoute(app: Server, context: CrmContext): void {
  app.get(
    '/attention',
    {
      config: { permission: 'member' },
      schema: { response: { 200: Attention, ...errorResponses(...sessionErrors) } },
    },
    ({ principal }) => getAttention(context.attention, principal),
  );
}
