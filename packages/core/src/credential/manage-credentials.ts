import type { CampaignStore } from '../campaign/campaign-store.ts';
import { LeadsError } from '../errors.ts';
import { parseTime } from '../parse-time.ts';
import type { AccessTokenCodec } from './access-token.ts';
import type { AccessTokenView, ApiKeyView, NewAccessToken, NewApiKey } from './credential.schema.ts';
import { credentialState } from './credential-state.ts';
import type { AccessToken, ApiKey, CredentialStore, MemberRef } from './credential-store.ts';
import { issueAccessToken, issueApiKey } from './issue-credential.ts';
import { canonicalNetwork } from './networks.ts';
import { formatScope, singleScopes } from './principal.ts';

/*
 * Operations of members on their own API keys and access tokens. Credentials of other members are `not_found`.
 */

export function viewApiKey(key: ApiKey): ApiKeyView {
  const { id, name, prefix, scope, defaultCampaignId, replacesId, createdAt } = key;
  return {
    id,
    name,
    prefix,
    scope: typeof scope === 'string' ? scope : [...scope],
    state: credentialState(key),
    ...(defaultCampaignId !== undefined && { defaultCampaignId }),
    allowedOrigins: [...key.allowedOrigins],
    allowedNetworks: [...key.allowedNetworks],
    ...(replacesId !== undefined && { replacesId }),
    createdAt: createdAt.toISOString(),
    ...(key.expiresAt !== undefined && { expiresAt: key.expiresAt.toISOString() }),
    ...viewUse(key),
  };
}

/** Returns the properties of a key that the audit log records. */
export function apiKeyDetails(key: Pick<ApiKey, 'name' | 'prefix' | 'scope' | 'allowedNetworks'>) {
  const { name, prefix, scope, allowedNetworks } = key;
  const allowedFrom = allowedNetworks.length === 0 ? undefined : allowedNetworks.join(', ');
  return { name, scope: formatScope(scope), prefix, allowedFrom };
}

export function viewAccessToken(token: AccessToken): AccessTokenView {
  const { id, name, createdAt, expiresAt } = token;
  return {
    id,
    name,
    state: credentialState(token),
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    ...viewUse(token),
  };
}

function viewUse({ revokedAt, lastUsedAt, lastUsedFrom }: AccessToken | ApiKey) {
  return {
    ...(revokedAt !== undefined && { revokedAt: revokedAt.toISOString() }),
    ...(lastUsedAt !== undefined && { lastUsedAt: lastUsedAt.toISOString() }),
    ...(lastUsedFrom !== undefined && { lastUsedFrom }),
  };
}

export async function listOwnApiKeys(store: CredentialStore, member: MemberRef): Promise<ApiKeyView[]> {
  return (await store.listApiKeys(member.workspaceId, member.userId)).map(viewApiKey);
}

/**
 * Creates an API key for the member.
 *
 * @returns the key itself, which is not stored, and its record.
 * @throws LeadsError `campaign_unavailable`; `invalid_input` if `expiresAt` is in the past, if a network is malformed, for
 *   origins without the scope `intake` or with networks, or as {@link parseTime}.
 */
export async function createOwnApiKey(
  { credentials, campaigns }: { credentials: CredentialStore; campaigns: Pick<CampaignStore, 'findByCode'> },
  member: MemberRef,
  {
    name,
    scope = 'full',
    expiresAt,
    defaultCampaignCode,
    allowedOrigins = [],
    allowedNetworks = [],
  }: NewApiKey,
): Promise<{ apiKey: string; record: ApiKeyView }> {
  if (scope !== 'intake' && allowedOrigins.length > 0) {
    throw new LeadsError('invalid_input', {
      fields: [{ at: 'body', path: '/allowedOrigins', reason: 'requires the scope intake' }],
    });
  }
  if (allowedOrigins.length > 0 && allowedNetworks.length > 0) {
    throw new LeadsError('invalid_input', {
      fields: [{ at: 'body', path: '/allowedNetworks', reason: 'is not allowed with allowedOrigins' }],
    });
  }
  const expiry =
    expiresAt === undefined ? undefined : parseTime(expiresAt, { at: 'body', path: '/expiresAt' });
  if (expiry !== undefined && expiry.getTime() <= Date.now()) {
    throw new LeadsError('invalid_input', {
      fields: [{ at: 'body', path: '/expiresAt', reason: 'must be in the future' }],
    });
  }
  const campaign =
    defaultCampaignCode === undefined
      ? undefined
      : await campaigns.findByCode(member.workspaceId, defaultCampaignCode);
  if (defaultCampaignCode !== undefined && campaign?.status !== 'active') {
    throw new LeadsError('campaign_unavailable', {
      fields: [
        { at: 'body', path: '/defaultCampaignCode', reason: 'must be the code of an active campaign' },
      ],
    });
  }
  const { apiKey, record } = await issueApiKey(credentials, member, {
    name,
    scope: typeof scope === 'string' ? scope : singleScopes.filter((single) => scope.includes(single)),
    allowedOrigins: [...new Set(allowedOrigins.map(originOf))],
    allowedNetworks: [...new Set(allowedNetworks.map(networkOf))],
    ...(expiry !== undefined && { expiresAt: expiry }),
    ...(campaign !== undefined && { defaultCampaignId: campaign.id }),
  });
  return { apiKey, record: viewApiKey(record) };
}

/**
 * Creates a key of the same name and permissions. The old key works until it is revoked, so that clients have time to
 * change keys.
 *
 * @throws LeadsError `not_found`; `conflict` if the key is not active.
 */
export async function rotateOwnApiKey(
  credentials: CredentialStore,
  member: MemberRef,
  id: string,
): Promise<{ apiKey: string; record: ApiKeyView }> {
  const keys = await credentials.listApiKeys(member.workspaceId, member.userId);
  const old = keys.find((key) => key.id === id);
  if (old === undefined) throw new LeadsError('not_found');
  if (credentialState(old) !== 'active') {
    throw new LeadsError('conflict', { message: 'Only an active API key can be rotated' });
  }
  const { apiKey, record } = await issueApiKey(credentials, member, {
    name: old.name,
    scope: old.scope,
    allowedOrigins: old.allowedOrigins,
    allowedNetworks: old.allowedNetworks,
    replacesId: old.id,
    // The new key has the lifetime of the old key.
    ...(old.expiresAt !== undefined && {
      expiresAt: new Date(Date.now() + old.expiresAt.getTime() - old.createdAt.getTime()),
    }),
    ...(old.defaultCampaignId !== undefined && { defaultCampaignId: old.defaultCampaignId }),
  });
  return { apiKey, record: viewApiKey(record) };
}

/** Revokes an API key. @throws LeadsError `not_found`. */
export async function revokeOwnApiKey(
  store: CredentialStore,
  member: MemberRef,
  id: string,
): Promise<ApiKeyView> {
  const key = (await store.listApiKeys(member.workspaceId, member.userId)).find((each) => each.id === id);
  const [revoked] = key === undefined ? [] : await store.revokeApiKey(member.workspaceId, id, new Date());
  if (revoked === undefined) throw new LeadsError('not_found');
  return viewApiKey(revoked);
}

export async function listOwnAccessTokens(
  store: CredentialStore,
  member: MemberRef,
): Promise<AccessTokenView[]> {
  return (await store.listAccessTokens(member.workspaceId, member.userId)).map(viewAccessToken);
}

/** Creates an access token. Returns the token itself, which is not stored, and its record. */
export async function createOwnAccessToken(
  { credentials, accessTokens }: { credentials: CredentialStore; accessTokens: AccessTokenCodec },
  member: MemberRef,
  { name, lifetimeSeconds }: NewAccessToken,
): Promise<{ accessToken: string; record: AccessTokenView }> {
  const { accessToken, record } = await issueAccessToken(credentials, accessTokens, member, {
    name,
    ...(lifetimeSeconds !== undefined && { lifetimeSeconds }),
  });
  return { accessToken, record: viewAccessToken(record) };
}

/** Revokes an access token. @throws LeadsError `not_found`. */
export async function revokeOwnAccessToken(
  store: CredentialStore,
  member: MemberRef,
  id: string,
): Promise<AccessTokenView> {
  const tokens = await store.listAccessTokens(member.workspaceId, member.userId);
  const token = tokens.find((each) => each.id === id);
  const revoked =
    token === undefined ? undefined : await store.revokeAccessToken(member.workspaceId, id, new Date());
  if (revoked === undefined) throw new LeadsError('not_found');
  return viewAccessToken(revoked);
}

/** Returns an origin as browsers send it. @throws LeadsError `invalid_input` for a malformed origin. */
function originOf(text: string): string {
  if (!URL.canParse(text)) {
    throw new LeadsError('invalid_input', {
      fields: [{ at: 'body', path: '/allowedOrigins', reason: 'must hold origins of web pages' }],
    });
  }
  return new URL(text).origin;
}

/** Returns a network in its canonical form. @throws LeadsError `invalid_input` for a malformed network. */
function networkOf(text: string, index: number): string {
  const network = canonicalNetwork(text);
  if (network !== undefined) return network;
  const reason = 'must be an IP address, or a network such as 203.0.113.0/24';
  throw new LeadsError('invalid_input', {
    fields: [{ at: 'body', path: `/allowedNetworks/${index}`, reason }],
  });
}
