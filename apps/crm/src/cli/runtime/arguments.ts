import { canonicalNetwork, maxNetworks } from '@leads/core/credential';
import { slugMaxLength } from '@leads/core/workspace';
import { type Payout, parsePayoutText } from '@leads/core/payout';
import { InvalidArgumentError } from 'commander';
import { IsEmail, IsUuid } from 'typebox/format';

/*
 * Parsers of option values. Each parser throws commander's InvalidArgumentError for an invalid value. Commander adds
 * the name of the option to the message.
 */

const secondsPerUnit = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 } as const;

/** The longest duration: 100 years. A date that far in the future is still a valid `Date`. */
const longestSeconds = 36_500 * secondsPerUnit.d;

/** Parses a duration such as `90d` to seconds: a whole number and `s`, `m`, `h`, `d` or `w`, at most 36500d. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^([0-9]{1,12})([smhdw])$/.exec(text) ?? [];
  if (count === undefined) {
    throw new InvalidArgumentError('Use a whole number and a unit (s, m, h, d or w), such as 90d or 12h.');
  }
  const seconds = Number(count) * secondsPerUnit[unit as keyof typeof secondsPerUnit];
  if (seconds === 0) throw new InvalidArgumentError('It must be longer than 0 seconds.');
  if (seconds > longestSeconds) throw new InvalidArgumentError('It must be at most 36500d.');
  return seconds;
}

/** The longest duplicate window, in seconds: 10 years. */
const longestWindowSeconds = 3_650 * secondsPerUnit.d;

/** Parses a duplicate window to seconds: a duration of at most 3650d, or `off`, which is 0. */
export function parseDuplicateWindow(text: string): number {
  if (text === 'off') return 0;
  const seconds = parseDuration(text);
  if (seconds > longestWindowSeconds) throw new InvalidArgumentError('It must be at most 3650d, or off.');
  return seconds;
}

const longestHoldSeconds = 365 * secondsPerUnit.d;

/** Parses a hold time to seconds: a duration of 1m to 365d, or `off`, which is 0. */
export function parseHoldTime(text: string): number {
  if (text === 'off') return 0;
  const seconds = parseDuration(text);
  if (seconds < secondsPerUnit.m || seconds > longestHoldSeconds) {
    throw new InvalidArgumentError('It must be 1m to 365d, or off.');
  }
  return seconds;
}

/** Parses a payout such as `12.50 EUR`, or `off`, which is null. */
export function parsePayout(text: string): Payout | null {
  if (text === 'off') return null;
  const payout = parsePayoutText(text.trim());
  if (payout !== undefined) return payout;
  throw new InvalidArgumentError(
    'It must be an amount with at most 12 digits, at most 4 of them after the point, and a currency code of ISO 4217, such as "12.50 EUR", or off.',
  );
}

const longestRetentionDays = 36_500;

/** Parses a retention period in days: at most 36500, or `off`, which is 0. */
export function parseRetentionDays(text: string): number {
  if (text === 'off') return 0;
  const days = parseCount(text);
  if (days > longestRetentionDays) throw new InvalidArgumentError('It must be at most 36500, or off.');
  return days;
}

/** Parses a name or code: 1 to 255 characters without control characters. Trims white space. */
export function parseText(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') throw new InvalidArgumentError('It must not be empty.');
  if (/\p{Cc}/u.test(trimmed)) throw new InvalidArgumentError('It must not contain control characters.');
  if (!/^.{1,255}$/u.test(trimmed)) throw new InvalidArgumentError('It must have at most 255 characters.');
  return trimmed;
}

/** Parses the path of a file that a command writes beside its result. Rejects `-`, which means stdout in other options. */
export function parseOutputPath(text: string): string {
  if (text === '-') throw new InvalidArgumentError('It must be a file: stdout has the result.');
  return parseText(text);
}

export function parseEmail(text: string): string {
  if (text.length > 254 || !IsEmail(text)) {
    throw new InvalidArgumentError('It is not an email address.');
  }
  return text;
}

/** The addresses that Better Auth accepts at sign-in: the pattern `email` of zod. It is narrower than that of leads. */
const userEmail =
  /^(?:[A-Za-z0-9_'+-]+\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/;

/** Parses the email address of a user, who signs in with it. */
export function parseUserEmail(text: string): string {
  if (userEmail.test(text)) return parseEmail(text);
  throw new InvalidArgumentError(
    'It is not an email address with which a user can sign in, such as ada@example.com.',
  );
}

/** Validates the slug of a workspace, such as `acme-inc`. */
export function parseSlug(text: string): string {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(text) || text.length > slugMaxLength) {
    throw new InvalidArgumentError(
      `Use at most ${slugMaxLength} lower-case letters and digits, with single hyphens between them.`,
    );
  }
  return text;
}

/** Parses a time (ISO 8601), or a duration before now. */
export function parseTimeAgo(text: string): Date {
  if (/^\d+[a-z]$/.test(text)) return new Date(Date.now() - parseDuration(text) * 1000);
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError(
      'Use a time such as 2026-01-31T09:30:00Z, or a duration such as 1h or 7d.',
    );
  }
  return time;
}

/** Parses one more address or network of a key. Returns them in canonical form, each once. */
export function parseNetworks(text: string, earlier: readonly string[] = []): string[] {
  const network = canonicalNetwork(text);
  if (network === undefined) {
    throw new InvalidArgumentError('Use an IP address, or a network such as 203.0.113.0/24.');
  }
  const networks = [...new Set([...earlier, network])];
  if (networks.length > maxNetworks) throw new InvalidArgumentError(`Use at most ${maxNetworks} networks.`);
  return networks;
}

/** Parses a positive whole number. */
export function parseCount(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw new InvalidArgumentError('Use a whole number, 1 or more.');
  return Number(text);
}

/** Validates a UUID. Returns it in lower case, as the services store it. */
export function parseUuid(text: string): string {
  if (!IsUuid(text)) throw new InvalidArgumentError('It is not a UUID.');
  return text.toLowerCase();
}
