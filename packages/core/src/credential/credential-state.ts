/** The expiry and revocation of an API key or an access token. */
export interface CredentialLife {
  readonly expiresAt?: Date | undefined;
  readonly revokedAt?: Date | undefined;
}

/** Returns the current state of a credential. */
export function credentialState({ expiresAt, revokedAt }: CredentialLife): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt.getTime() <= Date.now() ? 'expired' : 'active';
}
