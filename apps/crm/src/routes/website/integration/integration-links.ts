import { getIntegrationToken, removeIntegrationToken, renewIntegrationToken } from '@leads/core/campaign';
import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';
import type { CrmConfig } from '../../../config.ts';
import type { CrmContext } from '../../../context.ts';
import { publicUrlOf } from '../../../public-url.ts';
import { idPath } from '../../id-path.ts';

const Link = Type.Object({
  link: Type.Optional(Type.String({ description: 'The address of the page; absent where there is none.' })),
});

/** The link of a campaign's integration page: look it up, make or renew it, take the page down. */
export function integrationLinkRoutes(app: Server, { campaigns }: CrmContext, config: CrmConfig): void {
  const path = '/campaigns/:id/integration-link';
  const schema = { params: idPath('campaign'), response: { 200: Link } };
  const linkOf = (token: string | undefined) =>
    token === undefined ? {} : { link: `${publicUrlOf(config)}/integration/${token}` };

  app.get(path, { schema }, async ({ principal, params }) =>
    linkOf(await getIntegrationToken(campaigns, principal, params.id)),
  );
  app.post(path, { schema }, async ({ principal, params }) =>
    linkOf(await renewIntegrationToken(campaigns, principal, params.id)),
  );
  app.delete(path, { schema }, async ({ principal, params }) => {
    await removeIntegrationToken(campaigns, principal, params.id);
    return {};
  });
}
