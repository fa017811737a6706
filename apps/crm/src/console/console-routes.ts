import { requireManagers, requireOwnPages } from '@leads/http/guards';
import type { Server } from '@leads/http/server';
import type { CrmConfig } from '../config.ts';
import type { CrmContext } from '../context.ts';
import { createAccessTokenRoute } from '../routes/access-tokens/create-access-token.ts';
import { listAccessTokensRoute } from '../routes/access-tokens/list-access-tokens.ts';
import { revokeAccessTokenRoute } from '../routes/access-tokens/revoke-access-token.ts';
import { endSessionRoute } from '../routes/account/end-session.ts';
import { getFeaturesRoute } from '../routes/account/get-features.ts';
import { getInvitationRoute } from '../routes/account/get-invitation.ts';
import { getMeRoute } from '../routes/account/get-me.ts';
import { listSessionsRoute } from '../routes/account/list-sessions.ts';
import { createWorkspaceRoute, renameWorkspaceRoute } from '../routes/account/workspaces.ts';
import { createApiKeyRoute } from '../routes/api-keys/create-api-key.ts';
import { listApiKeysRoute } from '../routes/api-keys/list-api-keys.ts';
import { revokeApiKeyRoute } from '../routes/api-keys/revoke-api-key.ts';
import { rotateApiKeyRoute } from '../routes/api-keys/rotate-api-key.ts';
import { getIntegrationPageRoute } from '../routes/integration/get-integration-page.ts';
import { integrationLinkRoutes } from '../routes/integration/integration-links.ts';
import { exportFileRoutes } from '../routes/leads/export-file.ts';
import { leadsRoutes } from '../routes/leads-routes.ts';
import { listInvitationsRoute } from '../routes/members/list-invitations.ts';
import { listMembersRoute } from '../routes/members/list-members.ts';
import { getOverviewRoute } from '../routes/overview/get-overview.ts';
import { reportClientErrorRoute } from '../routes/website/report-client-error.ts';
import { tryIntakeRoute } from '../routes/website/try-intake.ts';
import { accountRoutes } from './account-routes.ts';
import { publicUrlOf } from './addresses.ts';
import { requireMember, requireOwners, requireSignedIn } from './session.ts';

/**
 * What the website's pages call, under `/api`: accounts at `/auth`, and at `/console` all that integrators have,
 * for who is signed in, and what only the website does.
 */
export async function consoleRoutes(app: Server, config: CrmConfig, context: CrmContext): Promise<void> {
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
