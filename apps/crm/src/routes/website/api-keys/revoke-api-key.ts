import { ApiKeyView, revokeOwnApiKey } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';
import { idPath } from '../../id-path.ts';

const Revoked = Type.Object({ success: Type.Literal(true), record: ApiKeyView });

/** Revoke one of the caller's API keys, for good. */
export function revokeApiKeyRoute(app: Server, { credentialStore }: CrmContext): void {
  app.delete(
    '/api-keys/:id',
    { schema: { params: idPath('API key'), response: { 200: Revoked } } },
    async (request) => ({
      success: true as const,
      record: await revokeOwnApiKey(credentialStore, request.principal, request.params.id),
    }),
  );
}
