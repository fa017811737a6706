import type { Server } from '@leads/http/server/create-server';
import { requireManagers, requireOwnPages } from '@leads/http/server/guards';
import type { CrmConfig } from '../../config.ts';
import type { CrmContext } from '../../context.ts';
import { publicUrlOf } from '../../public-url.ts';
import { accountRoutes } from '../account/account-routes.ts';
import { endSessionRoute } from '../account/end-session.ts';
import { getFeaturesRoute } from '../account/get-features.ts';
import { getInvitationRoute } from '../account/get-invitation.ts';
import { getMeRoute } from '../account/get-me.ts';
import { listSessionsRoute } from '../account/list-sessions.ts';
import { requireMember, requireOwners, requireSignedIn } from '../account/session.ts';
import { createWorkspaceRoute, renameWorkspaceRoute } from '../account/workspaces.ts';
import { leadsRoutes } from '../api/api-routes.ts';
import { exportFileRoutes } from '../api/leads/export-file.ts';
import { createAccessTokenRoute } from './access-tokens/create-access-token.ts';
import { listAccessTokensRoute } from './access-tokens/list-access-tokens.ts';
import { revokeAccessTokenRoute } from './access-tokens/revoke-access-token.ts';
import { createApiKeyRoute } from './api-keys/create-api-key.ts';
import { listApiKeysRoute } from './api-keys/list-api-keys.ts';
import { revokeApiKeyRoute } from './api-keys/revoke-api-key.ts';
import { rotateApiKeyRoute } from './api-keys/rotate-api-key.ts';
import { reportClientErrorRoute } from './client-errors/report-client-error.ts';
import { tryIntakeRoute } from './intake/try-intake.ts';
import { getIntegrationPageRoute } from './integration/get-integration-page.ts';
import { integrationLinkRoutes } from './integration/integration-links.ts';
import { listInvitationsRoute } from './members/list-invitations.ts';
import { listMembersRoute } from './members/list-members.ts';
import { getOverviewRoute } from './overview/get-overview.ts';

/**
 * What the website's pages call, under `/api`: accounts at `/auth`, and at `/console` all that integrators have,
 * for who is signed in, and what only the website does.
 */
export async function websiteRoutes(app: Server, config: CrmConfig, context: CrmContext): Promise<void> {
  requireOwnPages(app, publicUrlOf(config));
  accountRoutes(app, context, publicUrlOf(config));

  await app.register(
    async (open) => {
      getFeaturesRoute(open, config);
      getInvitationRoute(open, context);
      getIntegrationPageRoute(open, context, config);
      reportClientErrorRoute(open);

      await open.register(async (signedIn) => {
        requireSignedIn(signedIn, context);
        getMeRoute(signedIn, config);
        listSessionsRoute(signedIn, context);
        endSessionRoute(signedIn, context);
        createWorkspaceRoute(signedIn, context);

        await signedIn.register(async (member) => {
          requireMember(member);
          await leadsRoutes(member, context);
          exportFileRoutes(member, context);
          getOverviewRoute(member, context);
          listApiKeysRoute(member, context);
          createApiKeyRoute(member, context);
          rotateApiKeyRoute(member, context);
          revokeApiKeyRoute(member, context);
          listAccessTokensRoute(member, context);
          createAccessTokenRoute(member, context);
          revokeAccessTokenRoute(member, context);
          tryIntakeRoute(member, config);

          await member.register(async (managed) => {
            requireManagers(managed);
            integrationLinkRoutes(managed, context, config);
            listMembersRoute(managed, context);
          });
          await member.register(async (owned) => {
            requireOwners(owned);
            renameWorkspaceRoute(owned, context);
            listInvitationsRoute(owned, context, config);
          });
        });
      });
    },
    { prefix: '/console' },
  );
}
