import { AccessTokenView, listOwnAccessTokens } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that lists the caller's own access tokens in the workspace, newest first. */
export function listAccessTokensRoute(app: Server, { credentialStore }: CrmContext): void {
  app.get(
    '/access-tokens',
    {
      config: { permission: 'member' },
      schema: { response: { 200: Type.Array(AccessTokenView), ...errorResponses(...sessionErrors) } },
    },
    (request) => listOwnAccessTokens(credentialStore, request.principal),
  );
}
