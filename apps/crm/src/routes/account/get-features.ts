import { Features } from '@leads/core/account';
import type { Server } from '@leads/http/server/create-server';
import { errorResponses } from '@leads/http/server/errors';
import type { CrmConfig } from '../../config.ts';

/** Registers the route that returns the features that are available before sign-in. */
export function getFeaturesRoute(app: Server, config: CrmConfig): void {
  const features = { signUp: config.ALLOW_SIGN_UP, mail: config.SMTP_URL !== undefined };
  app.get(
    '/features',
    {
      config: { permission: 'public' },
      schema: { response: { 200: Features, ...errorResponses('forbidden', 'unexpected') } },
    },
    async () => features,
  );
}
