import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { SetupError } from '../errors.ts';

/** The minimum length of the operator's secret, in characters. */
const minSecretLength = 32;

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const shape = /^v1\.([A-Za-z0-9_-]{8})\.([A-Za-z0-9_-]+)$/;

/** Encrypts short texts at rest, such as webhook secrets and extra headers. */
export interface SecretBox {
  /**
   * Encrypts a text with the current key.
   *
   * @param context The owner of the text, such as the endpoint's id. {@link open} succeeds for the same context only, so
   *   a sealed text that is copied to another row does not open.
   * @returns `v1.<key id>.<nonce, ciphertext and tag in base64url>`
   */
  seal(text: string, context: string): string;
  /**
   * Decrypts a sealed text with the key of its key id.
   *
   * @throws SealedTextError `unknown_key` or `damaged`.
   */
  open(sealed: string, context: string): string;
  /** Returns whether the current key sealed the text. Seal other texts again, so that their key can be removed. */
  isCurrent(sealed: string): boolean;
  /** Returns a keyed hash of a text (HMAC-SHA256). Without the key, guessed texts cannot be compared with it. */
  hash(text: string): string;
}

/** The error of {@link SecretBox.open}. Its message contains no secret. */
export class SealedTextError extends Error {
  override readonly name = 'SealedTextError';
  /**
   * `unknown_key`: the text was sealed with a secret that the box does not have. `damaged`: the text was altered or
   * belongs to another context.
   */
  readonly code: 'unknown_key' | 'damaged';

  constructor(code: SealedTextError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

interface Key {
  readonly id: string;
  readonly bytes: Buffer;
  readonly hashBytes: Buffer;
}

/**
 * Returns a box that seals with AES-256-GCM (NIST SP 800-38D) and a random nonce. HKDF-SHA256 (RFC 5869) derives the
 * keys and their ids from the operator's secrets.
 *
 * @param secrets The secret that seals and opens, and the earlier secrets that only open.
 * @throws SetupError for a secret of fewer than {@link minSecretLength} characters.
 */
export function createSecretBox({
  current,
  previous = [],
}: {
  current: string;
  previous?: readonly string[];
}): SecretBox {
  const currentKey = deriveKey(current);
  const keys = new Map([...previous.map(deriveKey), currentKey].map((key) => [key.id, key]));

  return {
    seal: (text, context) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, currentKey.bytes, nonce, { authTagLength: tagBytes });
      cipher.setAAD(Buffer.from(context));
      const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      const content = Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]);
      return `v1.${currentKey.id}.${content.toString('base64url')}`;
    },

    open: (sealed, context) => {
      const [, keyId = '', encoded = ''] = shape.exec(sealed) ?? [];
      const content = Buffer.from(encoded, 'base64url');
      if (content.length < nonceBytes + tagBytes || content.toString('base64url') !== encoded) {
        throw new SealedTextError('damaged', 'Not a sealed text');
      }
      const key = keys.get(keyId);
      if (key === undefined) {
        throw new SealedTextError(
          'unknown_key',
          `No secret has the key id ${keyId}: set DELIVERIES_PREVIOUS_SECRET to the earlier DELIVERIES_SECRET`,
        );
      }
      const decipher = createDecipheriv(algorithm, key.bytes, content.subarray(0, nonceBytes), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(content.subarray(-tagBytes));
      try {
        const text = decipher.update(content.subarray(nonceBytes, -tagBytes));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new SealedTextError('damaged', 'The sealed text was altered or belongs to another owner', {
          cause,
        });
      }
    },

    isCurrent: (sealed) => shape.exec(sealed)?.[1] === currentKey.id,

    hash: (text) => createHmac('sha256', currentKey.hashBytes).update(text).digest('base64url'),
  };
}

function deriveKey(secret: string): Key {
  if (secret.length < minSecretLength) {
    throw new SetupError(`A secret for deliveries must have ${minSecretLength} characters or more`);
  }
  const derive = (info: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', `leads deliveries ${info}`, bytes));
  return {
    id: derive('key id', 6).toString('base64url'),
    bytes: derive('key', 32),
    hashBytes: derive('hash key', 32),
  };
}
