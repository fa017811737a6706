import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/*
 * An API key is `lk_`, then 32 random bytes in base62 (43 characters), then the CRC-32 of these characters in base62
 * (6 characters). The checksum detects a mistyped or cut key without a query. Secret scanners can recognize a leaked key.
 */
const mark = 'lk_';
const secretLength = 43;
const checkLength = 6;
/** The length of an API key, in characters. */
export const apiKeyLength = mark.length + secretLength + checkLength;
const displayLength = mark.length + 8;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const shape = new RegExp(`^${mark}[0-9A-Za-z]{${secretLength + checkLength}}$`);

/** A new API key. `apiKey` is shown once and never stored. */
export interface NewApiKey {
  readonly apiKey: string;
  readonly hash: Buffer;
  /** The first characters, by which users recognize the key. */
  readonly prefix: string;
}

export function generateApiKey(): NewApiKey {
  const secret = base62(BigInt(`0x${randomBytes(32).toString('hex')}`), secretLength);
  const apiKey = mark + secret + checksum(secret);
  return { apiKey, hash: hashApiKey(apiKey), prefix: apiKey.slice(0, displayLength) };
}

/** Whether a text has the format and the checksum of an API key. */
export function isApiKey(text: string): boolean {
  return (
    shape.test(text) &&
    checksum(text.slice(mark.length, mark.length + secretLength)) === text.slice(-checkLength)
  );
}

/** Returns the SHA-256 (32 bytes). A key has 256 random bits, so a salt or a slow hash would not add security. */
export function hashApiKey(apiKey: string): Buffer {
  return hash('sha256', apiKey, 'buffer');
}

function checksum(secret: string): string {
  let text = '';
  for (let rest = crc32(secret); text.length < checkLength; rest = Math.floor(rest / 62)) {
    text = digits.charAt(rest % 62) + text;
  }
  return text;
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  return text;
}
