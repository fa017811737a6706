import { type AccountOptions, type Accounts, createAccounts } from '@leads/core/account';
import type { AuditOrigin, RecordAction } from '@leads/core/audit';
import type { CredentialStore } from '@leads/core/credential';
import type { Logger } from '@leads/http/service/log';
import type { CrmConfig } from './config.ts';
import { publicUrlOf } from './public-url.ts';

type CredentialRevoker = Pick<CredentialStore, 'revokeAllOfUser'>;

/** Creates the accounts of the website's users. Their actions are recorded in the audit log. */
export function createCrmAccounts(
  config: CrmConfig,
  options: Pick<
    AccountOptions,
    'openAdapter' | 'store' | 'workspaces' | 'passwordHash' | 'sendMail' | 'onMemberChanged'
  > & {
    readonly recordAction: RecordAction;
    readonly credentialStore: CredentialRevoker;
  },
  log: Logger,
): Accounts {
  const { credentialStore, ...dependencies } = options;
  return createAccounts({
    ...dependencies,
    secret: config.JWT_SECRET,
    publicUrl: publicUrlOf(config),
    signUp: config.ALLOW_SIGN_UP,
    breachedPasswordsUrl: config.BREACHED_PASSWORDS_URL,
    revokeCredentials: (userId, origin) =>
      revokeCredentials(userId, origin, credentialStore, dependencies.recordAction),
    onError: (err) => log.error({ err }, 'An account operation failed'),
  });
}

/** Revokes all API keys and access tokens of a user, and records each in the audit log of its workspace. */
async function revokeCredentials(
  userId: string,
  origin: AuditOrigin,
  credentialStore: CredentialRevoker,
  recordAction: RecordAction,
): Promise<void> {
  const { apiKeys, accessTokens } = await credentialStore.revokeAllOfUser(userId, new Date());
  for (const [action, revoked] of [
    ['api_key.revoked', apiKeys],
    ['access_token.revoked', accessTokens],
  ] as const) {
    for (const { id, workspaceId, name } of revoked) {
      await recordAction(origin, { action, scope: { workspaceId }, targetId: id, details: { name } });
    }
  }
}
