import { describeApi, docsRoutes } from '@leads/http/docs';
import { requireApiKeyAndToken, requireManagers } from '@leads/http/guards';
import { healthRoutes } from '@leads/http/health';
import type { Logger } from '@leads/http/log';
import { createServer, registerRoutes, type Server } from '@leads/http/server';
import type { CrmConfig } from './config.ts';
import type { CrmContext } from './context.ts';
import { createCampaignRoute } from './routes/campaigns/create-campaign.ts';
import { listCampaignsRoute } from './routes/campaigns/list-campaigns.ts';
import { updateCampaignRoute } from './routes/campaigns/update-campaign.ts';
import { createLandingPageRoute } from './routes/landing-pages/create-landing-page.ts';
import { listLandingPagesRoute } from './routes/landing-pages/list-landing-pages.ts';
import { mapLandingPageRoute } from './routes/landing-pages/map-landing-page.ts';
import { changeStatusesRoute } from './routes/leads/change-statuses.ts';
import { createLeadRoute } from './routes/leads/create-lead.ts';
import { editLeadRoute } from './routes/leads/edit-lead.ts';
import { getLeadHistoryRoute } from './routes/leads/get-lead-history.ts';
import { getLeadRoute } from './routes/leads/get-lead.ts';
import { importLeadsRoute } from './routes/leads/import-leads.ts';
import { listLeadsRoute } from './routes/leads/list-leads.ts';

/** The CRM service: an authenticated API for integrators. */
export async function buildApp(config: CrmConfig, context: CrmContext, log: Logger): Promise<Server> {
  const app = createServer({ log, trustProxy: config.TRUST_PROXY });

  await describeApi(app, {
    title: 'Leads: CRM',
    description:
      'Creates and lists the leads of campaigns. Authenticate with the `API_KEY` header and an access token, `Authorization: Bearer`, of the same user and workspace.',
    tags: [
      { name: 'leads', description: 'Leads of campaigns.' },
      { name: 'campaigns', description: 'Campaigns, which leads belong to.' },
      { name: 'landing pages', description: 'Landing pages, and the campaigns that their leads go to.' },
    ],
  });

  await registerRoutes(app, async (routes) => {
    await healthRoutes(routes, { database: context.pingDatabase });
    await docsRoutes(routes);

    await routes.register(async (guarded) => {
      requireApiKeyAndToken(guarded, context.credentials, context.accessTokens);
      createLeadRoute(guarded, context);
      listLeadsRoute(guarded, context);
      getLeadRoute(guarded, context);
      editLeadRoute(guarded, context);
      getLeadHistoryRoute(guarded, context);
      changeStatusesRoute(guarded, context);
      // In a scope of its own, which takes CSV and nothing else.
      await guarded.register(async (imports) => importLeadsRoute(imports, context));

      listCampaignsRoute(guarded, context);
      listLandingPagesRoute(guarded, context);
      await guarded.register(async (managed) => {
        requireManagers(managed);
        createCampaignRoute(managed, context);
        updateCampaignRoute(managed, context);
        createLandingPageRoute(managed, context);
        mapLandingPageRoute(managed, context);
      });
    });
  });
  return app;
}
