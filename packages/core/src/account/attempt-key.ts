import { createHash } from 'node:crypto';

/** Returns the key that counts attempts. The text, such as an email address, is hashed without regard to case. */
export function attemptKey(kind: string, text: string): string {
  return `${kind}:${createHash('sha256').update(text.toLowerCase()).digest('base64url')}`;
}
