import {
  getIntegrationToken,
  IntegrationLink,
  removeIntegrationToken,
  renewIntegrationToken,
} from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { bodyErrors, errorResponses, sessionErrors } from '@leads/http/server/errors';
import { auditOrigin } from '../../../audit-origin.ts';
import type { CrmConfig } from '../../../config.ts';
import type { CrmContext } from '../../../context.ts';
import { publicUrlOf } from '../../../public-url.ts';
import { idPath } from '../../id-path.ts';

/** Registers the routes that return, create, renew and remove the link of a campaign's integration page. */
export function integrationLinkRoutes(
  app: Server,
  { integrationPages, recordAction }: CrmContext,
  config: CrmConfig,
): void {
  const path = '/campaigns/:id/integration-link';
  const route = {
    config: { permission: 'manageCampaigns' },
    schema: {
      params: idPath('campaign'),
      response: { 200: IntegrationLink, ...errorResponses(...bodyErrors, 'not_found', ...sessionErrors) },
    },
  } as const;
  const linkOf = (token: string | undefined) =>
    token === undefined ? {} : { link: `${publicUrlOf(config)}/integration/${token}` };

  app.get(path, route, async ({ principal, params }) =>
    linkOf(await getIntegrationToken(integrationPages, principal, params.id)),
  );
  app.post(path, route, async (request) => {
    const { principal, params } = request;
    const link = linkOf(await renewIntegrationToken(integrationPages, principal, params.id));
    await recordAction(auditOrigin(request), {
      action: 'integration_link.created',
      scope: principal,
      targetId: params.id,
    });
    return link;
  });
  app.delete(path, route, async (request) => {
    const { principal, params } = request;
    await removeIntegrationToken(integrationPages, principal, params.id);
    await recordAction(auditOrigin(request), {
      action: 'integration_link.removed',
      scope: principal,
      targetId: params.id,
    });
    return {};
  });
}
