import { createHmac, randomBytes } from 'node:crypto';

const prefix = 'whsec_';
const secretBytes = 32;
/** The bounds of a secret (Standard Webhooks 1.0, "Signature scheme"). */
const secretByteBounds = { min: 24, max: 64 };

/** The headers of a signed webhook (Standard Webhooks 1.0, "Webhook headers"). */
export interface WebhookHeaders {
  readonly 'webhook-id': string;
  /** Seconds since 1970-01-01T00:00:00Z. */
  readonly 'webhook-timestamp': string;
  /** One `v1,<base64>` for each secret, separated by spaces. */
  readonly 'webhook-signature': string;
}

/** The headers that every webhook has besides. */
export const fixedWebhookHeaders = {
  'content-type': 'application/cloudevents+json',
  'user-agent': 'leads-webhooks/1',
} as const;

/** Returns a time as `webhook-timestamp` has it. */
export const signatureTime = (time: Date) => String(Math.floor(time.getTime() / 1000));

/** Returns a new secret: `whsec_` and 32 random bytes in base64 (Standard Webhooks 1.0, "Signature scheme"). */
export function createWebhookSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64');
}

/**
 * Signs a webhook with HMAC-SHA256 (Standard Webhooks 1.0).
 *
 * @param id The id of the message, equal on every retry. It must not be empty or contain a dot, because a dot separates
 *   the signed parts.
 * @param timestamp The time of this attempt.
 * @param body The request body, as it is sent.
 * @param secrets One secret, or both secrets during a rotation.
 * @throws RangeError for an invalid id, no secret, or a secret that is not base64 of 24 to 64 bytes.
 */
export function signWebhook({
  id,
  timestamp,
  body,
  secrets,
}: {
  id: string;
  timestamp: Date;
  body: string;
  secrets: readonly string[];
}): WebhookHeaders {
  if (id === '' || id.includes('.')) throw new RangeError('The id of a webhook must be a text without dots');
  if (secrets.length === 0) throw new RangeError('A webhook needs one secret or more');
  const seconds = signatureTime(timestamp);
  const signed = `${id}.${seconds}.${body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', keyOf(secret)).update(signed).digest('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': signatures.join(' '),
  };
}

function keyOf(secret: string): Buffer {
  const encoded = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  const key = Buffer.from(encoded, 'base64');
  const isCanonical = key.toString('base64') === encoded;
  if (!isCanonical || key.length < secretByteBounds.min || key.length > secretByteBounds.max) {
    throw new RangeError('A webhook secret must be base64 of 24 to 64 bytes');
  }
  return key;
}
