/** One year, in seconds. */
const hstsSeconds = 31_536_000;

/**
 * Returns the security headers of every response.
 *
 * @param publicUrl the origin of the service for clients. With https, browsers keep to https (RFC 6797).
 */
export function securityHeadersOf(publicUrl: string | undefined): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    // The URL of a page can contain a secret, such as the token of an integration page.
    'referrer-policy': 'no-referrer',
    ...(publicUrl?.startsWith('https:') === true && {
      'strict-transport-security': `max-age=${hstsSeconds}`,
    }),
  };
}

/** Returns the additional security headers of an HTML page. */
export function pageHeadersOf(contentSecurityPolicy: readonly string[]): Readonly<Record<string, string>> {
  return {
    'content-security-policy': contentSecurityPolicy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'x-frame-options': 'DENY',
  };
}
