import {
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  Metadata,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/min';

/** A phone number in E.164 (`+` and at most 15 digits), and its digits without the country code. */
export interface PhoneNumber {
  readonly e164: string;
  readonly national: string;
}

/**
 * Parses a phone number.
 *
 * @param country a two-letter code (ISO 3166-1): the country of a number without a country code. Any other text is
 *   ignored.
 * @returns the complete number, or `undefined` if the text is not a possible number.
 */
export function parsePhone(phone: string, country?: string): PhoneNumber | undefined {
  return readInternational(phone) ?? parse(plainPhone(phone), country);
}

/** Most texts are ASCII. Other texts take several times as long to process. */
export const ascii = /^[\x20-\x7e]*$/;

/** Returns a text with digits of any script as 0 to 9, and with full-width plus signs as `+`. */
export function plainPhone(text: string): string {
  if (ascii.test(text)) return text;
  return text.replaceAll(/[＋﹢]/g, '+').replaceAll(/\p{Nd}/gu, digitOf);
}

/** Returns the digits of a text, in any script, as 0 to 9. */
export function digitsOf(text: string): string {
  return plainPhone(text).replaceAll(/[^0-9]/g, '');
}

/** An extension behind at least 7 digits, such as `x12`, `ext. 12`, `#12` and `доб. 12`. As in `phone_end` of Postgres. */
const extension = /((?:[0-9][^0-9]*){7})(?:x|#|доб)[^0-9]{0,9}[0-9]{1,7}[^0-9]*$/i;

/** Returns a number without its extension, with digits of any script as 0 to 9. */
export function withoutExtension(phone: string): string {
  return plainPhone(phone).replace(extension, '$1');
}

/** The values of the digits that were found in texts. Unicode has fewer than 1,000 digits. */
const digits = new Map<string, string>();

/** Returns the value of a decimal digit. Unicode has the digits of each script in order, from 0 to 9. */
function digitOf(character: string): string {
  const known = digits.get(character);
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? 0;
  let zero = code;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  // Several sets of digits can follow each other.
  const value = String((code - zero) % 10);
  digits.set(character, value);
  return value;
}

function parse(phone: string, country: string | undefined): PhoneNumber | undefined {
  const hint = country?.trim().toUpperCase();
  const parsed = parsePhoneNumberFromString(
    phone,
    hint !== undefined && isSupportedCountry(hint) ? hint : undefined,
  );
  if (parsed?.isPossible() !== true || !e164.test(parsed.number)) return undefined;
  return { e164: parsed.number, national: parsed.nationalNumber };
}

const e164 = /^\+[1-9][0-9]{1,14}$/;

/** The rules for the numbers of a calling code. */
interface NumberingPlan {
  /** The numbers of digits that are valid in every country of the code. */
  readonly lengths: ReadonlySet<number>;
  /** The prefixes that callers dial before a number within a country. */
  readonly nationalPrefix: RegExp | undefined;
}

/** A plus sign, and digits with the usual separators. */
const international = /^\+[0-9 ().-]{3,32}$/;

let plans: ReadonlyMap<string, NumberingPlan> | undefined;

/**
 * Parses a number in the usual international spelling. Most leads have such a number, and this function takes a tenth
 * of the library's time for the same result.
 *
 * @returns `undefined` if the length is unusual or the number may start with a national prefix. Only the library can
 *   parse such a number.
 */
function readInternational(phone: string): PhoneNumber | undefined {
  if (!international.test(phone)) return undefined;
  const all = phone.replaceAll(/[^0-9]/g, '');
  plans ??= readPlans();
  // No calling code is a prefix of another calling code.
  for (let length = 1; length <= 3; length++) {
    const plan = plans.get(all.slice(0, length));
    if (plan === undefined) continue;
    const national = all.slice(length);
    const isPlain = plan.lengths.has(national.length) && plan.nationalPrefix?.test(national) !== true;
    return isPlain && e164.test(`+${all}`) ? { e164: `+${all}`, national } : undefined;
  }
  return undefined;
}

function readPlans(): ReadonlyMap<string, NumberingPlan> {
  const found = new Map<string, { lengths: Set<number>; prefixes: string[] }>();
  const metadata = new Metadata();
  for (const country of getCountries()) {
    metadata.selectNumberingPlan(country);
    const plan = metadata.numberingPlan as
      | { possibleLengths(): number[]; nationalPrefixForParsing?(): string | undefined }
      | undefined;
    if (plan === undefined) continue;
    const code = getCountryCallingCode(country);
    const { lengths, prefixes } = found.get(code) ?? { lengths: undefined, prefixes: [] };
    const prefix = plan.nationalPrefixForParsing?.() ?? '';
    found.set(code, {
      lengths: new Set(plan.possibleLengths().filter((length) => lengths?.has(length) ?? true)),
      prefixes: prefix === '' ? prefixes : [...prefixes, prefix],
    });
  }
  return new Map(
    Array.from(found, ([code, { lengths, prefixes }]) => [
      code,
      {
        lengths,
        nationalPrefix: prefixes.length === 0 ? undefined : new RegExp(`^(?:${prefixes.join('|')})`),
      },
    ]),
  );
}
