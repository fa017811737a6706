import { createHmac } from 'node:crypto';

/**
 * Returns a JWT with any header and content. It is signed with HMAC and `hash`, or with the result of `sign`.
 */
export function forgeToken(
  content: object,
  options: { secret: string; header?: object; hash?: string; sign?: (signed: string) => Buffer },
): string {
  const { secret, header = { alg: 'HS256', typ: 'JWT' }, hash = 'sha256' } = options;
  const signed = `${encode(header)}.${encode(content)}`;
  const signature = options.sign?.(signed) ?? createHmac(hash, secret).update(signed).digest();
  return `${signed}.${signature.toString('base64url')}`;
}

/** Returns the content of a JWT without checking its signature. */
export function contentOf(token: string): Record<string, unknown> {
  const [, content = ''] = token.split('.');
  return JSON.parse(Buffer.from(content, 'base64url').toString()) as Record<string, unknown>;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
