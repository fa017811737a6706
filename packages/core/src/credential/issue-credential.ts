import { LeadsError } from '../errors.ts';
import { boundTime } from '../parse-time.ts';
import { newId } from '../uuid.ts';
import { type AccessTokenCodec, tokenLifetime } from './access-token.ts';
import { generateApiKey } from './api-key.ts';
import type { AccessToken, ApiKey, CredentialStore, MemberRef } from './credential-store.ts';
import type { ApiKeyScope } from './principal.ts';

/**
 * Creates an API key for a member. The key itself is only returned, and never stored. It expires by the end of the year 9999
 * if `expiresAt` is later.
 *
 * @throws LeadsError `bad_request` if `expiresAt` is not in the future.
 */
export async function issueApiKey(
  credentials: CredentialStore,
  member: MemberRef,
  options: {
    name: string;
    scope?: ApiKeyScope;
    expiresAt?: Date;
    defaultCampaignId?: string;
    allowedOrigins?: readonly string[];
    /** In canonical form. */
    allowedNetworks?: readonly string[];
    replacesId?: string;
  },
): Promise<{ apiKey: string; record: ApiKey }> {
  const createdAt = new Date();
  if (options.expiresAt !== undefined && options.expiresAt <= createdAt) {
    throw new LeadsError('bad_request', { message: 'An API key must expire in the future' });
  }
  const { apiKey, hash, prefix } = generateApiKey();
  const record: ApiKey = {
    id: newId(),
    workspaceId: member.workspaceId,
    userId: member.userId,
    name: options.name,
    prefix,
    scope: options.scope ?? 'full',
    defaultCampaignId: options.defaultCampaignId,
    allowedOrigins: options.allowedOrigins ?? [],
    allowedNetworks: options.allowedNetworks ?? [],
    replacesId: options.replacesId,
    createdAt,
    // The lifetime of a key that it replaces can end later.
    expiresAt: options.expiresAt && boundTime(options.expiresAt.getTime()),
  };
  await credentials.createApiKey({ ...record, hash });
  return { apiKey, record };
}

/**
 * Creates an access token for a member, and stores its row. The token itself is only returned, and never stored.
 *
 * @param options.lifetimeSeconds within {@link tokenLifetime}.
 * @throws LeadsError `bad_request` for a lifetime outside these limits.
 */
export async function issueAccessToken(
  credentials: CredentialStore,
  codec: AccessTokenCodec,
  member: MemberRef,
  options: { name: string; lifetimeSeconds?: number },
): Promise<{ accessToken: string; record: AccessToken }> {
  const lifetimeSeconds = options.lifetimeSeconds ?? tokenLifetime.default;
  if (!(lifetimeSeconds >= tokenLifetime.minimum && lifetimeSeconds <= tokenLifetime.maximum)) {
    throw new LeadsError('bad_request', {
      message: 'The lifetime of an access token must be from 1 hour to 1 year',
    });
  }
  const createdAt = new Date();
  const record: AccessToken = {
    id: newId(),
    workspaceId: member.workspaceId,
    userId: member.userId,
    name: options.name,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + lifetimeSeconds * 1000),
  };
  const accessToken = codec.sign(
    { sub: member.userId, jti: record.id, ws: member.workspaceId },
    lifetimeSeconds,
  );
  await credentials.createAccessToken(record);
  return { accessToken, record };
}
