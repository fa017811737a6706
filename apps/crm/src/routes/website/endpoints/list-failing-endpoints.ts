import { FailingEndpoint, listFailingEndpoints } from '@leads/core/delivery';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that lists the webhooks and postbacks for the banner about failures. Every page requests it. */
export function listFailingEndpointsRoute(app: Server, { deliveries }: CrmContext): void {
  app.get(
    '/failing-endpoints',
    {
      config: { permission: 'member' },
      schema: { response: { 200: Type.Array(FailingEndpoint), ...errorResponses(...sessionErrors) } },
    },
    ({ principal }) => listFailingEndpoints(deliveries, principal),
  );
}
