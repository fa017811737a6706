import { createHash, randomBytes } from 'node:crypto';
import type { getSessionFromCtx } from 'better-auth/api';

/** A request to the account library. */
export type LibraryContext = Parameters<typeof getSessionFromCtx>[0];

const cookieName = 'known_browser';
const maxAgeSeconds = 400 * 24 * 60 * 60;

const hashOf = (email: string) => createHash('sha256').update(email.toLowerCase()).digest('base64url');

/**
 * Sets the signed cookie of a browser whose user knew the password of an account (OWASP, "Slow Down Online Guessing
 * Attacks with Device Cookies"). It names the account by the hash of its address, and the browser by a random id.
 */
export async function setKnownBrowser(request: LibraryContext, email: string): Promise<void> {
  const { name, attributes } = request.context.createAuthCookie(cookieName, { maxAge: maxAgeSeconds });
  const value = `${hashOf(email)}.${randomBytes(16).toString('base64url')}`;
  await request.setSignedCookie(name, value, request.context.secret, attributes);
}

/** Returns the id of the browser if it is known for the account; else `undefined`. */
export async function knownBrowser(request: LibraryContext, email: string): Promise<string | undefined> {
  const { name } = request.context.createAuthCookie(cookieName);
  const value = await request.getSignedCookie(name, request.context.secret);
  if (typeof value !== 'string') return undefined;
  const [account, browser] = value.split('.');
  return account === hashOf(email) ? browser : undefined;
}
