import { AccessTokenView, createOwnAccessToken, NewAccessToken } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

const AccessTokenShown = Type.Object({
  success: Type.Literal(true),
  accessToken: Type.String({ description: 'The token itself, shown this once.' }),
  record: AccessTokenView,
});

/** Make an access token for the caller. */
export function createAccessTokenRoute(app: Server, { accessTokens, credentialStore }: CrmContext): void {
  app.post(
    '/access-tokens',
    { schema: { body: NewAccessToken, response: { 200: AccessTokenShown } } },
    async (request) => {
      const means = { credentials: credentialStore, accessTokens };
      const made = await createOwnAccessToken(means, request.principal, request.body);
      return { success: true as const, ...made };
    },
  );
}
