import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware, getSessionFromCtx } from 'better-auth/api';
import { symmetricDecrypt } from 'better-auth/crypto';
import { challengedUser } from './second-factor-once.ts';

/**
 * Rejects a code if the second factor is encrypted with an earlier secret of the service. The library would answer 500.
 * Only an operator can remove such a second factor.
 */
export function readableSecondFactor() {
  return {
    id: 'leads-readable-second-factor',
    hooks: {
      before: [
        {
          matcher: ({ path }) =>
            path === '/two-factor/verify-totp' || path === '/two-factor/verify-backup-code',
          handler: createAuthMiddleware(async (context) => {
            const { adapter, secretConfig } = context.context;
            const value = (await getSessionFromCtx(context))?.user.id ?? (await challengedUser(context));
            // The library rejects a request without a user, and a user without a second factor.
            if (value === undefined) return;
            const factor = await adapter.findOne<{ secret: string }>({
              model: 'twoFactor',
              where: [{ field: 'userId', value }],
            });
            if (factor === null) return;
            await symmetricDecrypt({ key: secretConfig, data: factor.secret }).catch(() => {
              throw new APIError('BAD_REQUEST', { code: 'SECOND_FACTOR_UNREADABLE' });
            });
          }),
        },
      ],
    },
  } satisfies BetterAuthPlugin;
}
