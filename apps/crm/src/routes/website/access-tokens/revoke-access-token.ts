import { AccessTokenView, revokeOwnAccessToken } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

const Revoked = Type.Object({ success: Type.Literal(true), record: AccessTokenView });

/** Revoke one of the caller's access tokens, for good. */
export function revokeAccessTokenRoute(app: Server, { credentialStore }: CrmContext): void {
  app.delete(
    '/access-tokens/:id',
    { schema: { params: idPath('access token'), response: { 200: Revoked } } },
    async (request) => ({
      success: true as const,
      record: await revokeOwnAccessToken(credentialStore, request.principal, request.params.id),
    }),
  );
}
