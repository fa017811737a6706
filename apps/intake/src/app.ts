import { IntakeLead } from '@leads/core/lead';
import { createServer, registerRoutes, type Server } from '@leads/http/server/create-server';
import { describeApi, docsRoutes } from '@leads/http/server/docs';
import { acceptForms } from '@leads/http/server/form-body';
import { browserKeyScheme, requireApiKey, securitySchemes } from '@leads/http/server/guards';
import { healthRoutes } from '@leads/http/server/health';
import { metricsRoutes } from '@leads/http/server/metrics-route';
import type { Logger } from '@leads/http/service/log';
import type { IntakeConfig } from './config.ts';
import type { IntakeContext } from './context.ts';
import { preflightRoute } from './routes/preflight.ts';
import { submitLeadRoute } from './routes/submit-lead.ts';

/**
 * Builds the intake API. One guarded route accepts leads. The other routes are for health, metrics and documentation.
 */
export async function buildApp(config: IntakeConfig, context: IntakeContext, log: Logger): Promise<Server> {
  const app = createServer({
    log,
    trustProxy: config.TRUST_PROXY,
    publicUrl: config.INTAKE_URL,
    servedHosts: config.SERVED_HOSTS,
    metrics: context.metrics,
    tracing: context.tracing,
    requestLog: context.requestLog,
  });

  await describeApi(app, {
    title: 'Leads: edge intake',
    description:
      'Accepts leads from landing pages, as JSON or from plain HTML forms. Authenticate with the `API_KEY` header. A key that is bound to web origins may be sent in the query instead.',
    securitySchemes: { ApiKey: securitySchemes.ApiKey, BrowserKey: browserKeyScheme },
    schemas: { IntakeLead },
    tags: [{ name: 'leads', description: 'Leads from landing pages.' }],
  });

  await registerRoutes(app, async (routes) => {
    await healthRoutes(
      routes,
      context.checkBuffer === undefined
        ? { database: context.pingDatabase }
        : { database: context.pingDatabase, buffer: context.checkBuffer },
      // The service accepts leads if either is available.
      { needed: 'any', checkSchema: context.checkSchema },
    );
    await metricsRoutes(routes, context.metrics, config.METRICS_TOKEN);
    await docsRoutes(routes, {
      title: 'Leads: intake API reference',
      credentials: ['ApiKey'],
      links:
        config.PUBLIC_URL === undefined
          ? []
          : [
              { label: 'Website', href: config.PUBLIC_URL },
              { label: 'CRM API reference', href: `${config.PUBLIC_URL}/docs` },
            ],
    });

    preflightRoute(routes);
    await routes.register(async (guarded) => {
      requireApiKey(guarded, context);
      // A request is rejected before its body is read, so that it costs little.
      guarded.addHook('onRequest', (_request, _reply, done) => {
        context.leads.checkRoom();
        done();
      });
      acceptForms(guarded);
      submitLeadRoute(guarded, context);
    });
  });
  return app;
}
