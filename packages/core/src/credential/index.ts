export { type AccessTokenClaims, type AccessTokenCodec, tokenLifetime } from './access-token.ts';
export { generateApiKey, isApiKey } from './api-key.ts';
export { type CredentialLife, credentialState } from './credential-state.ts';
export type {
  AccessToken,
  ApiKey,
  CredentialLookup,
  CredentialStore,
  MemberRef,
} from './credential-store.ts';
export { issueAccessToken, issueApiKey } from './issue-credential.ts';
export {
  type ApiKeyScope,
  type MemberRole,
  memberRoles,
  type Principal,
  requireManager,
} from './principal.ts';
export { CredentialVerifier } from './verify-credentials.ts';
