import type { Server } from '@leads/http/server/create-server';
import { Type } from 'typebox';
import type { CrmConfig } from '../../config.ts';

/** What a visitor who is not signed in can do. */
export function getFeaturesRoute(app: Server, config: CrmConfig): void {
  const features = { signUp: config.ALLOW_SIGN_UP, mail: config.SMTP_URL !== undefined };
  app.get(
    '/features',
    {
      schema: {
        response: {
          200: Type.Object({
            signUp: Type.Boolean({ description: 'Whether anyone may sign up.' }),
            mail: Type.Boolean({ description: 'Whether mails are sent.' }),
          }),
        },
      },
    },
    async () => features,
  );
}
