import { uuidOfHex } from '../uuid.ts';
import { ascii, digitsOf, parsePhone, plainPhone, withoutExtension } from './phone.ts';

/** The limits: characters of a text, words of a lead, characters of a word, digits of a phone number. */
const bounds = { text: 1_000, words: 32, word: 64, digits: 32 } as const;

/** The usual ASCII spellings of letters that Unicode does not decompose. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
  ς: 'σ',
};

/**
 * Returns the words of a text for searching: letters and digits in lower case, without accents. An apostrophe does
 * not split a word: `O'Brien` is `obrien`.
 */
export function foldWords(text: string): string[] {
  const start = text.slice(0, bounds.text);
  const words = ascii.test(start)
    ? start
        .toLowerCase()
        .replaceAll("'", '')
        .split(/[^a-z0-9]+/)
    : start
        .normalize('NFKD')
        .toLowerCase()
        .replaceAll(/[\p{M}'’ʼ]/gu, '')
        .replaceAll(/[ßæœøłđðþħıς]/g, (letter) => plainLetters[letter] ?? letter)
        .split(/[^\p{L}\p{N}]+/u);
  return words
    .filter((word) => word !== '')
    .map((word) => (word.length <= bounds.word ? word : Array.from(word).slice(0, bounds.word).join('')));
}

/** Returns the search words of a lead: the words of its name and email address, and the digits of its phone number. */
export function searchWords(lead: {
  name: string;
  email?: string | undefined;
  phone: string;
  phoneE164?: string | undefined;
}): string[] {
  const digits = [lead.phone, lead.phoneE164 ?? ''].map(firstDigits).filter((text) => text !== '');
  // `brien` must also find O'Brien.
  const parts = /['’ʼ]/.test(lead.name) ? foldWords(lead.name.replaceAll(/['’ʼ]/g, ' ')) : [];
  const words = [...digits, ...foldWords(lead.name), ...parts];
  if (lead.email !== undefined) words.push(...foldWords(lead.email));
  return [...new Set(words)].slice(0, bounds.words);
}

/** Returns the first digits of a phone number, at most `bounds.digits`. */
function firstDigits(phone: string): string {
  return digitsOf(phone.slice(0, bounds.text)).slice(0, bounds.digits);
}

/** A phone number to search for. The store compares numbers by their digits, from the end. */
export interface PhoneSearch {
  /** The last digits, reversed. All digits if `isWhole`. */
  readonly reversed: string;
  readonly isWhole: boolean;
  /** The complete number, if known. A stored complete number must be equal. */
  readonly e164?: string | undefined;
  /** More digits, reversed. A stored complete number must end with these digits, too. */
  readonly longer?: string | undefined;
}

/** The minimum digits of a number that matches by its end. A shorter number, such as 112, must match as a whole. */
const significantDigits = 7;

/** A number of at least this length may start with a country code without `+`, such as 442079460958. */
const internationalDigits = 11;

/**
 * Returns a search that finds a phone number in any spelling. `+44 20 7946 0958`, `0044 (20) 79460958`, `442079460958`
 * and `020 7946 0958 ext. 12` are the same number.
 *
 * @returns `undefined` for a text without a digit.
 */
export function phoneSearch(phone: string): PhoneSearch | undefined {
  const all = digitsOf(withoutExtension(phone.slice(-bounds.text)));
  if (all === '') return undefined;
  const parsed = parsePhone(phone) ?? (all.startsWith('00') ? parsePhone(`+${all.slice(2)}`) : undefined);
  const guessed =
    parsed === undefined && all.length >= internationalDigits ? parsePhone(`+${all}`) : undefined;
  // The dialing prefix is removed because it depends on the caller's location.
  const significant = (parsed ?? guessed)?.national ?? all.replace(/^0+/, '');
  const isWhole = significant.length < significantDigits;
  return {
    reversed: reverse(isWhole ? all : significant).slice(0, bounds.digits),
    isWhole,
    e164: parsed?.e164,
    longer: guessed && reverse(all),
  };
}

/** The text of a search box, also read as words, as a part of a phone number and as an id. */
export interface LeadSearch {
  /** The whole text. A sub-id equals it, and a campaign's code or a word of its name begins with it. */
  readonly text: string;
  /** Beginnings of words. A lead must have all of them. */
  readonly words: readonly string[];
  /** The beginning of a phone number, and the reversed end. */
  readonly phone?: { readonly digits: string; readonly reversed: string };
  /** The first and the last id that begin with the text. */
  readonly ids?: { readonly first: string; readonly last: string };
}

/** Also with the dashes and the invisible marks of the direction that a copied number may have. */
const phoneLike = /^[+()\s./\p{Pd}\p{Cf}]*[0-9][+()\s./0-9\p{Pd}\p{Cf}]*$/u;
/** At least the first group of a UUID. A shorter text would match all leads of a quarter of an hour. */
const idLike = /^[0-9a-f]{8}[0-9a-f-]*$/i;
const hexDigits = 32;

/** Every email address ends in `.io`, so searching for `io` is slow and does not narrow the result. */
const endOfEmail = /(@[^@\s]+)\.io$/i;

/** Returns the search for a text of a search box. */
export function leadSearch(text: string): LeadSearch {
  const typed = text.trim();
  const digits = phoneLike.test(plainPhone(typed)) ? firstDigits(typed) : '';
  const hex = idLike.test(typed) ? typed.replaceAll('-', '').toLowerCase() : '';
  return {
    text: typed,
    words: foldWords(typed.replace(endOfEmail, '$1')).slice(0, bounds.words),
    ...(digits.length >= 3 && {
      phone: { digits, reversed: phoneEnd(typed, digits) },
    }),
    ...(hex !== '' &&
      hex.length <= hexDigits && {
        ids: { first: uuidOfHex(hex.padEnd(hexDigits, '0')), last: uuidOfHex(hex.padEnd(hexDigits, 'f')) },
      }),
  };
}

/** Returns the reversed end of a phone number. A complete number loses its country code. */
function phoneEnd(typed: string, digits: string): string {
  const whole = phoneSearch(typed);
  const isFull = whole?.e164 !== undefined && !whole.isWhole;
  return isFull ? whole.reversed : reverse(digits.replace(/^0+(?=\d)/, ''));
}

function reverse(digits: string): string {
  return Array.from(digits).toReversed().join('');
}
