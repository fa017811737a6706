import { CampaignView, getIntegrationPage } from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';
import type { CrmConfig } from '../../../config.ts';
import type { CrmContext } from '../../../context.ts';
import { apiAddresses } from '../../../public-url.ts';

const Page = Type.Object({
  workspace: Type.String(),
  campaignCode: Type.String(),
  campaign: Type.String(),
  status: CampaignView.properties.status,
  landingPages: Type.Array(Type.String()),
  addresses: Type.Object({ crm: Type.String(), intake: Type.Optional(Type.String()) }),
});

/** What a publisher needs to send leads to a campaign, for whoever has the link. */
export function getIntegrationPageRoute(app: Server, { campaigns }: CrmContext, config: CrmConfig): void {
  const addresses = apiAddresses(config);
  app.get(
    '/integration/:token',
    { schema: { params: Type.Object({ token: Type.String() }), response: { 200: Page } } },
    async ({ params }) => {
      const { landingPages, ...page } = await getIntegrationPage(campaigns, params.token);
      return { ...page, landingPages: [...landingPages], addresses };
    },
  );
}
