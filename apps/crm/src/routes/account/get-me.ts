import { Me } from '@leads/core/account';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import type { CrmConfig } from '../../config.ts';
import { apiAddresses } from '../../public-url.ts';
import { lastMembership } from './session.ts';

/** Registers the route that returns the signed-in user, the user's workspaces and the URLs of the APIs. */
export function getMeRoute(app: Server, config: CrmConfig): void {
  const addresses = apiAddresses(config);
  app.get(
    '/me',
    {
      config: { permission: 'signedIn' },
      schema: { response: { 200: Me, ...errorResponses(...sessionErrors) } },
    },
    async (request) => {
      const { signedIn, memberships, membership } = request;
      const mine = memberships.map(({ workspace: { id, slug, name }, role }) => ({ id, slug, name, role }));
      const workspace = mine.find(({ id }) => id === membership?.workspace.id);
      const last = lastMembership(request);
      return {
        user: signedIn.user,
        sessionId: signedIn.sessionId,
        workspaces: mine,
        ...(workspace !== undefined && { workspace }),
        ...(last !== undefined && { lastWorkspaceId: last.workspace.id }),
        addresses,
        mail: config.SMTP_URL !== undefined,
      };
    },
  );
}
