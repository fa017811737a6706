import type { CampaignStore } from '../campaign/campaign-store.ts';
import { LeadsError } from '../errors.ts';
import type { AccessTokenCodec } from './access-token.ts';
import type { AccessTokenView, ApiKeyView, NewAccessToken, NewApiKey } from './credential.schema.ts';
import { credentialState } from './credential-state.ts';
import type { AccessToken, ApiKey, CredentialStore, MemberRef } from './credential-store.ts';
import { issueAccessToken, issueApiKey } from './issue-credential.ts';

/*
 * What members do with their own API keys and access tokens. Those of others are answered as if they did not
 * exist.
 */

function viewApiKey(key: ApiKey): ApiKeyView {
  const { id, name, prefix, scope, defaultCampaignId, allowedOrigins, replacesId, createdAt } = key;
  return {
    id,
    name,
    prefix,
    scope,
    state: credentialState(key),
    ...(defaultCampaignId !== undefined && { defaultCampaignId }),
    allowedOrigins: [...allowedOrigins],
    ...(replacesId !== undefined && { replacesId }),
    createdAt: createdAt.toISOString(),
    ...(key.expiresAt !== undefined && { expiresAt: key.expiresAt.toISOString() }),
    ...viewUse(key),
  };
}

function viewAccessToken(token: AccessToken): AccessTokenView {
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
 * @returns the key, this once, and what is kept of it.
 * @throws LeadsError `campaign_unavailable`; `invalid_input` for a time that is past, and for origins of a key
 *   that can do more than take leads.
 */
export async function createOwnApiKey(
  { credentials, campaigns }: { credentials: CredentialStore; campaigns: CampaignStore },
  member: MemberRef,
  { name, scope = 'full', expiresAt, defaultCampaignCode, allowedOrigins = [] }: NewApiKey,
): Promise<{ apiKey: string; record: ApiKeyView }> {
  if (scope !== 'intake' && allowedOrigins.length > 0) {
    throw new LeadsError('invalid_input', {
      fields: [{ at: 'body', path: '/allowedOrigins', reason: 'goes with the scope intake only' }],
    });
  }
  if (expiresAt !== undefined && Date.parse(expiresAt) <= Date.now()) {
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
      fields: [{ at: 'body', path: '/defaultCampaignCode', reason: 'must be of an active campaign' }],
    });
  }
  const { apiKey, record } = await issueApiKey(credentials, member, {
    name,
    scope,
    allowedOrigins: [...new Set(allowedOrigins.map(originOf))],
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }),
    ...(campaign !== undefined && { defaultCampaignId: campaign.id }),
  });
  return { apiKey, record: viewApiKey(record) };
}

/**
 * Makes a key of the same name and rights. The old one goes on until it is revoked: whoever uses it has time to
 * change over.
 *
 * @throws LeadsError `not_found`; `conflict` for a key that is no longer active.
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
    replacesId: old.id,
    // As long as the old one was to live.
    ...(old.expiresAt !== undefined && {
      expiresAt: new Date(Date.now() + old.expiresAt.getTime() - old.createdAt.getTime()),
    }),
    ...(old.defaultCampaignId !== undefined && { defaultCampaignId: old.defaultCampaignId }),
  });
  return { apiKey, record: viewApiKey(record) };
}

/** @throws LeadsError `not_found`. */
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

/** @returns the token, this once, and what is kept of it. */
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

/** @throws LeadsError `not_found`. */
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

/** An origin as browsers write it. @throws LeadsError `invalid_input` for what is none. */
function originOf(text: string): string {
  if (!URL.canParse(text)) {
    throw new LeadsError('invalid_input', {
      fields: [{ at: 'body', path: '/allowedOrigins', reason: 'must hold origins of web pages' }],
    });
  }
  return new URL(text).origin;
}
