export type { CacheUse } from '../answer-cache.ts';
export { type AccessTokenClaims, type AccessTokenCodec, tokenLifetime } from './access-token.ts';
export { generateApiKey, isApiKey } from './api-key.ts';
export { broadcastRevocations } from './broadcast-revocations.ts';
export {
  AccessTokenRevoked,
  AccessTokenShown,
  AccessTokenView,
  ApiKeyRevoked,
  ApiKeyShown,
  ApiKeyView,
  MemberCredentials,
  NewAccessToken,
  NewApiKey,
} from './credential.schema.ts';
export { type CredentialLife, credentialState } from './credential-state.ts';
export type {
  AccessToken,
  ApiKey,
  CredentialLookup,
  CredentialStore,
  KnownApiKey,
  MemberRef,
  LastUse,
  LastUses,
} from './credential-store.ts';
export { CredentialUse } from './credential-use.ts';
export { issueAccessToken, issueApiKey } from './issue-credential.ts';
export {
  apiKeyDetails,
  createOwnAccessToken,
  createOwnApiKey,
  listOwnAccessTokens,
  listOwnApiKeys,
  revokeOwnAccessToken,
  revokeOwnApiKey,
  rotateOwnApiKey,
} from './manage-credentials.ts';
export {
  listMemberCredentials,
  revokeMemberAccessToken,
  revokeMemberApiKey,
} from './manage-member-credentials.ts';
export { canonicalNetwork, isInNetworks, maxNetworks } from './networks.ts';
export {
  type ApiKeyScope,
  formatScope,
  isBrowserKey,
  type Principal,
  type RequiredScope,
  type RequiredScopes,
  requirePermission,
  hasScope,
  requireScope,
  type SingleScope,
  singleScopes,
} from './principal.ts';
export { type MemberPermission, type MemberRole, may, memberRoles, rolesWith } from './roles.ts';
export { CredentialVerifier } from './verify-credentials.ts';
