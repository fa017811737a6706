import type { Server } from '@leads/http/server/create-server';
import { requireOwnOrigin } from '@leads/http/server/guards';
import type { CrmConfig } from '../../config.ts';
import type { CrmContext } from '../../context.ts';
import { publicUrlOf } from '../../public-url.ts';
import { getFeaturesRoute } from '../account/get-features.ts';
import { getMeRoute } from '../account/get-me.ts';
import { getInvitationRoute } from '../account/invitations/get-invitation.ts';
import { listInvitationsRoute } from '../account/invitations/list-invitations.ts';
import { libraryRoutes } from '../account/library-routes.ts';
import { endSessionRoute } from '../account/sessions/end-session.ts';
import { listSessionsRoute } from '../account/sessions/list-sessions.ts';
import { createWorkspaceRoute } from '../account/workspaces/create-workspace.ts';
import { getFirstStepsRoute } from '../account/workspaces/get-first-steps.ts';
import { renameWorkspaceRoute } from '../account/workspaces/rename-workspace.ts';
import { apiRoutes } from '../api/api-routes.ts';
import { createAccessTokenRoute } from './access-tokens/create-access-token.ts';
import { listAccessTokensRoute } from './access-tokens/list-access-tokens.ts';
import { revokeAccessTokenRoute } from './access-tokens/revoke-access-token.ts';
import { auditFileRoute } from './audit/audit-file.ts';
import { compressAnswers } from './compress-answers.ts';
import { createApiKeyRoute } from './api-keys/create-api-key.ts';
import { getApiKeyUsageRoute } from './api-keys/get-api-key-usage.ts';
import { listApiKeyRequestsRoute } from './api-keys/list-api-key-requests.ts';
import { listApiKeysRoute } from './api-keys/list-api-keys.ts';
import { revokeApiKeyRoute } from './api-keys/revoke-api-key.ts';
import { rotateApiKeyRoute } from './api-keys/rotate-api-key.ts';
import { reportClientErrorRoute } from './client-errors/report-client-error.ts';
import { listFailingEndpointsRoute } from './endpoints/list-failing-endpoints.ts';
import { tryIntakeRoute } from './intake/try-intake.ts';
import { getIntegrationPageRoute } from './integration/get-integration-page.ts';
import { integrationLinkRoutes } from './integration/integration-links.ts';
import { exportFileRoutes } from './leads/export-file.ts';
import { listLeadColumnsRoute } from './leads/list-lead-columns.ts';
import { viewLeadRoutes } from './leads/view-lead.ts';
import { listMembersRoute } from './members/list-members.ts';
import { memberCredentialRoutes } from './members/member-credentials.ts';
import { campaignFiguresRoutes } from './overview/campaign-figures.ts';
import { getAttentionRoute } from './overview/get-attention.ts';
import { getOverviewRoute } from './overview/get-overview.ts';
import { requireSession } from './require-session.ts';

/**
 * Registers the routes of the website below `/api`: accounts at `/auth`, and at `/console` the routes of the API for a
 * session and the website's own routes. Each route declares its permission beside its handler.
 */
export async function websiteRoutes(app: Server, config: CrmConfig, context: CrmContext): Promise<void> {
  requireOwnOrigin(app, publicUrlOf(config));
  libraryRoutes(app, context, publicUrlOf(config));
  await app.register(
    async (scope) => {
      requireSession(scope, context);
      compressAnswers(scope);
      await apiRoutes(scope, context);
      exportFileRoutes(scope, context);
      viewLeadRoutes(scope, context);
      auditFileRoute(scope, context);
      getOverviewRoute(scope, context);
      listFailingEndpointsRoute(scope, context);
      getAttentionRoute(scope, context);
      listLeadColumnsRoute(scope, context);
      campaignFiguresRoutes(scope, context);

      listApiKeysRoute(scope, context);
      createApiKeyRoute(scope, context);
      rotateApiKeyRoute(scope, context);
      revokeApiKeyRoute(scope, context);
      listApiKeyRequestsRoute(scope, context);
      getApiKeyUsageRoute(scope, context);
      listAccessTokensRoute(scope, context);
      createAccessTokenRoute(scope, context);
      revokeAccessTokenRoute(scope, context);

      getIntegrationPageRoute(scope, context, config);
      integrationLinkRoutes(scope, context, config);
      tryIntakeRoute(scope, config);

      getFeaturesRoute(scope, config);
      getMeRoute(scope, config);
      listSessionsRoute(scope, context);
      endSessionRoute(scope, context);
      createWorkspaceRoute(scope, context);
      renameWorkspaceRoute(scope, context);
      getFirstStepsRoute(scope, context);
      listMembersRoute(scope, context);
      memberCredentialRoutes(scope, context);
      getInvitationRoute(scope, context);
      listInvitationsRoute(scope, context, config);

      reportClientErrorRoute(scope, context);
    },
    { prefix: '/console' },
  );
}
