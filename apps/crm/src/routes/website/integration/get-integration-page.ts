import { getIntegrationPage, IntegrationPageView } from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmConfig } from '../../../config.ts';
import type { CrmContext } from '../../../context.ts';
import { apiAddresses } from '../../../public-url.ts';

/**
 * Registers the route that returns the integration page of a campaign: the data that a publisher needs to send leads.
 * The token in the link is the only credential.
 */
export function getIntegrationPageRoute(
  app: Server,
  { integrationPages }: CrmContext,
  config: CrmConfig,
): void {
  const addresses = apiAddresses(config);
  app.get(
    '/integration/:token',
    {
      config: { permission: 'public' },
      schema: {
        params: Type.Object({ token: Type.String() }),
        response: {
          200: IntegrationPageView,
          ...errorResponses('forbidden', 'not_found', 'unexpected', 'unavailable'),
        },
      },
    },
    async ({ params }) => {
      const { landingPages, ...page } = await getIntegrationPage(integrationPages, params.token);
      return { ...page, landingPages: [...landingPages], addresses };
    },
  );
}
