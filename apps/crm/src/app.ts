import { createServer, registerRoutes, type Server } from '@leads/http/server/create-server';
import { describeApi, docsRoutes } from '@leads/http/server/docs';
import { requireApiKeyAndToken, securitySchemes } from '@leads/http/server/guards';
import { healthRoutes } from '@leads/http/server/health';
import { metricsRoutes } from '@leads/http/server/metrics-route';
import type { Logger } from '@leads/http/service/log';
import type { CrmConfig } from './config.ts';
import type { CrmContext } from './context.ts';
import { apiRoutes } from './routes/api/api-routes.ts';
import { asyncApiRoute } from './routes/api/events/asyncapi-route.ts';
import { streamEventsRoute } from './routes/api/events/stream-events.ts';
import { namedSchemas } from './routes/api/named-schemas.ts';
import { createUnknownPageAnswer } from './routes/website/files/unknown-pages.ts';
import { staticFileRoutes } from './routes/website/files/static-files.ts';
import { websiteRoutes } from './routes/website/website-routes.ts';

/** Builds the CRM service: an authenticated API for integrators, and a website for users. */
export async function buildApp(config: CrmConfig, context: CrmContext, log: Logger): Promise<Server> {
  const app = createServer({
    log,
    trustProxy: config.TRUST_PROXY,
    publicUrl: config.PUBLIC_URL,
    servedHosts: config.SERVED_HOSTS,
    metrics: context.metrics,
    tracing: context.tracing,
    requestLog: context.requestLog,
    answerUnknownPath: createUnknownPageAnswer(),
  });
  context.transfers.watch(app);

  await describeApi(app, {
    title: 'Leads: CRM',
    description:
      'Creates and lists the leads of campaigns. Authenticate with an API key in the `API_KEY` header and an access token in `Authorization: Bearer`. Both must belong to the same user and workspace.',
    securitySchemes,
    schemas: namedSchemas,
    tags: [
      { name: 'leads', description: 'Leads of campaigns.' },
      { name: 'campaigns', description: 'Campaigns, which leads belong to.' },
      { name: 'landing pages', description: 'Landing pages and the campaigns of their leads.' },
      {
        name: 'webhooks',
        description:
          'URLs that receive changes of leads by POST, signed (Standard Webhooks 1.0). `/asyncapi.json` describes the requests.',
      },
      {
        name: 'postbacks',
        description: 'Requests to trackers for changes of the status of a lead, rendered from templates.',
      },
      { name: 'deliveries', description: 'What was sent to webhooks and postbacks, and its results.' },
      { name: 'audit log', description: 'Actions that concern the security of the workspace.' },
      {
        name: 'events',
        description:
          'Changes of leads as they happen. `/asyncapi.json` describes the events of this API and of NATS (AsyncAPI 3.0).',
      },
    ],
  });

  await registerRoutes(app, async (routes) => {
    await healthRoutes(
      routes,
      { database: context.pingDatabase },
      { needed: 'all', checkSchema: context.checkSchema },
    );
    await metricsRoutes(routes, context.metrics, config.METRICS_TOKEN);
    await docsRoutes(routes, {
      title: 'Leads: CRM API reference',
      credentials: ['ApiKey', 'AccessToken'],
      links: [
        { label: 'Website', href: '/' },
        ...(config.INTAKE_URL === undefined
          ? []
          : [{ label: 'Intake API reference', href: `${config.INTAKE_URL}/docs` }]),
      ],
    });
    asyncApiRoute(routes);

    await routes.register(
      async (guarded) => {
        requireApiKeyAndToken(guarded, context);
        await apiRoutes(guarded, context);
        streamEventsRoute(guarded, context);
      },
      { prefix: '/api/v1' },
    );
    await routes.register(async (website) => websiteRoutes(website, config, context), { prefix: '/api' });
    await staticFileRoutes(routes);
  });
  return app;
}
