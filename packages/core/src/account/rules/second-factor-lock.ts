import type { BetterAuthPlugin } from 'better-auth';
import { APIError, createAuthMiddleware } from 'better-auth/api';
import { challengedUser } from './second-factor-once.ts';

/**
 * Adds `Retry-After` to the rejection of a code while the second factor is locked. The library locks it for 15 minutes
 * after 10 wrong codes of sign-ins, and its response does not say until when.
 */
export function secondFactorLock() {
  return {
    id: 'leads-second-factor-lock',
    hooks: {
      after: [
        {
          matcher: ({ path }) =>
            path === '/two-factor/verify-totp' || path === '/two-factor/verify-backup-code',
          handler: createAuthMiddleware(async (context) => {
            const { adapter, returned } = context.context;
            const code = 'ACCOUNT_TEMPORARILY_LOCKED';
            if (!(returned instanceof APIError) || returned.body?.code !== code) return;
            const value = await challengedUser(context);
            if (value === undefined) return;
            const factor = await adapter.findOne<{ lockedUntil: Date | null }>({
              model: 'twoFactor',
              where: [{ field: 'userId', value }],
            });
            const leftMs = (factor?.lockedUntil?.getTime() ?? 0) - Date.now();
            const seconds = Math.max(1, Math.ceil(leftMs / 1_000));
            throw new APIError('TOO_MANY_REQUESTS', { code }, { 'Retry-After': `${seconds}` });
          }),
        },
      ],
    },
  } satisfies BetterAuthPlugin;
}
