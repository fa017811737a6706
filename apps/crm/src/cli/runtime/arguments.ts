import { slugMaxLength } from '@leads/core/workspace';
import { InvalidArgumentError } from 'commander';
import { IsEmail, IsUuid } from 'typebox/format';

/*
 * What the values of options look like. Each reads one value as it was typed, and throws commander's
 * InvalidArgumentError, which commander completes with the option's name.
 */

const secondsPerUnit = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 } as const;

/** Far enough for any credential, and near enough for every date to be one. */
const longestSeconds = 36_500 * secondsPerUnit.d;

/** A duration, `90d`, in seconds: a whole number and `s`, `m`, `h`, `d` or `w`; up to 36500d. */
export function parseDuration(text: string): number {
  const [, count, unit] = /^([0-9]{1,12})([smhdw])$/.exec(text) ?? [];
  if (count === undefined) {
    throw new InvalidArgumentError('Give a whole number and a unit (s, m, h, d or w), such as 90d or 12h.');
  }
  const seconds = Number(count) * secondsPerUnit[unit as keyof typeof secondsPerUnit];
  if (seconds === 0) throw new InvalidArgumentError('It must be longer than nothing.');
  if (seconds > longestSeconds) throw new InvalidArgumentError('It must be 36500d at most.');
  return seconds;
}

/** The longest window of duplicates, in seconds: ten years. */
const longestWindowSeconds = 3_650 * secondsPerUnit.d;

/** The window of duplicates: a duration of 3650d at most in seconds, or 0 for `off`. */
export function parseDuplicateWindow(text: string): number {
  if (text === 'off') return 0;
  const seconds = parseDuration(text);
  if (seconds > longestWindowSeconds) throw new InvalidArgumentError('It must be 3650d at most, or off.');
  return seconds;
}

const longestRetentionDays = 36_500;

/** For how many days leads are kept: 36500 at most, or 0 for `off`. */
export function parseRetentionDays(text: string): number {
  if (text === 'off') return 0;
  const days = parseCount(text);
  if (days > longestRetentionDays) throw new InvalidArgumentError('It must be 36500 at most, or off.');
  return days;
}

/** A name or code that people read: 1 to 255 characters, without control characters. Trimmed. */
export function parseText(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') throw new InvalidArgumentError('It must not be empty.');
  if (/\p{Cc}/u.test(trimmed)) throw new InvalidArgumentError('It must not have control characters.');
  if (!/^.{1,255}$/u.test(trimmed)) throw new InvalidArgumentError('It must have 255 characters at most.');
  return trimmed;
}

export function parseEmail(text: string): string {
  if (text.length > 254 || !IsEmail(text)) {
    throw new InvalidArgumentError('It is not an email address.');
  }
  return text;
}

/** A workspace's short name in addresses and commands: `acme-inc`. */
export function parseSlug(text: string): string {
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(text) || text.length > slugMaxLength) {
    throw new InvalidArgumentError(
      `A slug has lower-case letters, digits and single hyphens between them, ${slugMaxLength} at most.`,
    );
  }
  return text;
}

/** A time (ISO 8601), or how long ago it was, as a duration. */
export function parseTimeAgo(text: string): Date {
  if (/^\d+[a-z]$/.test(text)) return new Date(Date.now() - parseDuration(text) * 1000);
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError(
      'Give a time such as 2026-01-31T09:30:00Z, or a duration such as 1h or 7d.',
    );
  }
  return time;
}

/** A whole number, 1 or more. */
export function parseCount(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw new InvalidArgumentError('Give a whole number, 1 or more.');
  return Number(text);
}

/** A UUID, in lower case as the services write it. */
export function parseUuid(text: string): string {
  if (!IsUuid(text)) throw new InvalidArgumentError('It is not an id.');
  return text.toLowerCase();
}
