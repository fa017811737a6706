import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min';

/** A phone number in E.164 (`+` and at most 15 digits), and its digits without the country code. */
export interface PhoneNumber {
  readonly e164: string;
  readonly national: string;
}

/**
 * A phone number that is known in full, or `undefined` where the text cannot be read as one.
 *
 * @param country a two-letter code (ISO 3166-1) that tells how to read a number without a country code;
 *   anything else is no hint.
 */
export function parsePhone(phone: string, country?: string): PhoneNumber | undefined {
  const hint = country?.trim().toUpperCase();
  const parsed = parsePhoneNumberFromString(
    phone,
    hint !== undefined && isSupportedCountry(hint) ? hint : undefined,
  );
  if (parsed?.isPossible() !== true || !e164.test(parsed.number)) return undefined;
  return { e164: parsed.number, national: parsed.nationalNumber };
}

const e164 = /^\+[1-9][0-9]{1,14}$/;
