import { describeApi, docsRoutes } from '@leads/http/docs';
import { requireApiKeyAndToken } from '@leads/http/guards';
import { healthRoutes } from '@leads/http/health';
import type { Logger } from '@leads/http/log';
import { createServer, registerRoutes, type Server } from '@leads/http/server';
import type { CrmConfig } from './config.ts';
import type { CrmContext } from './context.ts';
import { createLeadRoute } from './routes/leads/create-lead.ts';
import { listLeadsRoute } from './routes/leads/list-leads.ts';

/** The CRM service: an authenticated API for integrators. */
export async function buildApp(config: CrmConfig, context: CrmContext, log: Logger): Promise<Server> {
  const app = createServer({ log, trustProxy: config.TRUST_PROXY });

  await describeApi(app, {
    title: 'Leads: CRM',
    description:
      'Creates and lists the leads of campaigns. Authenticate with the `API_KEY` header and an access token, `Authorization: Bearer`, of the same user and workspace.',
    tags: [{ name: 'leads', description: 'Leads of campaigns.' }],
  });

  await registerRoutes(app, async (routes) => {
    await healthRoutes(routes, { database: context.pingDatabase });
    await docsRoutes(routes);

    await routes.register(async (guarded) => {
      requireApiKeyAndToken(guarded, context.credentials, context.accessTokens);
      createLeadRoute(guarded, context);
      listLeadsRoute(guarded, context);
    });
  });
  return app;
}
