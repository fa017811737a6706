/** When an API key or an access token ends, and whether it was ended before. */
export interface CredentialLife {
  readonly expiresAt?: Date | undefined;
  readonly revokedAt?: Date | undefined;
}

/** Whether a credential is good now, and if not, why. */
export function credentialState({ expiresAt, revokedAt }: CredentialLife): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt.getTime() <= Date.now() ? 'expired' : 'active';
}
