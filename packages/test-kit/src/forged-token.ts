import { createHmac } from 'node:crypto';

/** A JWT of any header and content, signed with HMAC as `hash` says, or with what `sign` returns. */
export function forgeToken(
  content: object,
  options: { secret: string; header?: object; hash?: string; sign?: (signed: string) => Buffer },
): string {
  const { secret, header = { alg: 'HS256', typ: 'JWT' }, hash = 'sha256' } = options;
  const signed = `${encode(header)}.${encode(content)}`;
  const signature = options.sign?.(signed) ?? createHmac(hash, secret).update(signed).digest();
  return `${signed}.${signature.toString('base64url')}`;
}

/** The content of a JWT, believed without a check. */
export function contentOf(token: string): Record<string, unknown> {
  const [, content = ''] = token.split('.');
  return JSON.parse(Buffer.from(content, 'base64url').toString()) as Record<string, unknown>;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
