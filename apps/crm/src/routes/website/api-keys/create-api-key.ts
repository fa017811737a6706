import { ApiKeyView, createOwnApiKey, NewApiKey } from '@leads/core/credential';
import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';
import type { CrmContext } from '../../../context.ts';

/** The answer that shows a key, this once. */
export const ApiKeyShown = Type.Object({
  success: Type.Literal(true),
  apiKey: Type.String({ description: 'The key itself, shown this once.' }),
  record: ApiKeyView,
});

/** Make an API key for the caller. */
export function createApiKeyRoute(app: Server, { campaigns, credentialStore }: CrmContext): void {
  app.post('/api-keys', { schema: { body: NewApiKey, response: { 200: ApiKeyShown } } }, async (request) => {
    const stores = { credentials: credentialStore, campaigns };
    const made = await createOwnApiKey(stores, request.principal, request.body);
    return { success: true as const, ...made };
  });
}
