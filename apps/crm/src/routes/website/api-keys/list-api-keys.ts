import { ApiKeyView, listOwnApiKeys } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses, sessionErrors } from '@leads/http/server/errors';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** Registers the route that lists the caller's own API keys in the workspace, newest first. */
export function listApiKeysRoute(app: Server, { credentialStore }: CrmContext): void {
  app.get(
    '/api-keys',
    {
      config: { permission: 'member' },
      schema: { response: { 200: Type.Array(ApiKeyView), ...errorResponses(...sessionErrors) } },
    },
    (request) => listOwnApiKeys(credentialStore, request.principal),
  );
}
