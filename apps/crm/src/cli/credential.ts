/** The parts that an API key and an access token have in common. */
interface Credential {
  readonly expiresAt?: Date | undefined;
  readonly revokedAt?: Date | undefined;
}

/** Whether a credential is good now, and if not, why. */
export function stateOf({ expiresAt, revokedAt }: Credential): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt.getTime() <= Date.now() ? 'expired' : 'active';
}

/** A secret among what is printed about it. */
export function formatSecret(about: string, secret: string): string {
  return `${about}\n\n  ${secret}\n\nIt is shown this once and stored nowhere: keep it in a safe place.`;
}

/** What a revocation has done. `at` is the time it was asked for. */
export function formatRevocation(what: string, { revokedAt }: Credential, at: Date): string {
  return revokedAt !== undefined && revokedAt < at
    ? `${what} was revoked already, at ${revokedAt.toISOString()}.`
    : `${what} is revoked, in force everywhere within 10 seconds.`;
}
