import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/min';

/**
 * The number in E.164 (`+` and at most 15 digits), or `undefined` where it cannot be read as one.
 *
 * @param country a two-letter code (ISO 3166-1) that tells how to read a number without a country code;
 *   anything else is no hint.
 */
export function toE164(phone: string, country?: string): string | undefined {
  const hint = country?.trim().toUpperCase();
  const parsed = parsePhoneNumberFromString(
    phone,
    hint !== undefined && isSupportedCountry(hint) ? hint : undefined,
  );
  return parsed?.isPossible() === true && e164.test(parsed.number) ? parsed.number : undefined;
}

const e164 = /^\+[1-9][0-9]{1,14}$/;
