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
 * A phone number that is known in full, or `undefined` where the text cannot be read as one.
 *
 * @param country a two-letter code (ISO 3166-1) that tells how to read a number without a country code;
 *   anything else is no hint.
 */
export function parsePhone(phone: string, country?: string): PhoneNumber | undefined {
  return readInternational(phone) ?? parse(phone, country);
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

/** What is known of the numbers of a calling code. */
interface NumberingPlan {
  /** How many digits a number has, wherever the code is used. */
  readonly lengths: ReadonlySet<number>;
  /** What may stand before a number that is dialled within a country. */
  readonly nationalPrefix: RegExp | undefined;
}

/** Digits, and what people write between them. */
const international = /^\+[0-9 ().-]{3,32}$/;

let plans: ReadonlyMap<string, NumberingPlan> | undefined;

/**
 * A number in its usual international spelling, of a length that is right and with nothing before it that may be too
 * much: all that the library would find out of it, in a tenth of the time. It is what most leads have.
 *
 * @returns undefined where there is more to find out.
 */
function readInternational(phone: string): PhoneNumber | undefined {
  if (!international.test(phone)) return undefined;
  const all = phone.replaceAll(/[^0-9]/g, '');
  plans ??= readPlans();
  // No calling code is the beginning of another.
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
