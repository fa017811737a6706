import type { CredentialLife } from '@leads/core/credential';

/** A secret among what is printed about it. */
export function formatSecret(about: string, secret: string): string {
  return `${about}\n\n  ${secret}\n\nIt is shown this once and stored nowhere: keep it in a safe place.`;
}

/** What a revocation has done. `at` is the time it was asked for. */
export function formatRevocation(what: string, { revokedAt }: CredentialLife, at: Date): string {
  return revokedAt !== undefined && revokedAt < at
    ? `${what} was revoked already, at ${revokedAt.toISOString()}.`
    : `${what} is revoked, in force everywhere within 10 seconds.`;
}
