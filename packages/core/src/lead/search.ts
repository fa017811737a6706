import { parseIncompletePhoneNumber } from 'libphonenumber-js/min';
import { uuidOfHex } from '../uuid.ts';
import { parsePhone } from './phone.ts';

/** How much of a text is looked at, how many words of a lead are kept, and how much of each: in characters. */
const bounds = { text: 1_000, words: 32, word: 64, digits: 32 } as const;

/** What most texts are made of: what is done for the others costs several times as much. */
const ascii = /^[\x20-\x7e]*$/;

/** Letters that no decomposition takes apart, as those who do not have them on their keyboards write them. */
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
 * The words of a text as they are searched: lower case, without accents, without what is neither letter nor
 * digit. An apostrophe parts no word: `O'Brien` is `obrien`.
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

/** What a lead is searched by: the words of its name and email address, the digits of its phone number. */
export function searchWords(lead: {
  name: string;
  email?: string | undefined;
  phone: string;
  phoneE164?: string | undefined;
}): string[] {
  const digits = [lead.phone, lead.phoneE164 ?? ''].map(digitsOf).filter((text) => text !== '');
  // `brien` finds O'Brien as well.
  const parts = /['’ʼ]/.test(lead.name) ? foldWords(lead.name.replaceAll(/['’ʼ]/g, ' ')) : [];
  const words = [...digits, ...foldWords(lead.name), ...parts, ...foldWords(lead.email ?? '')];
  return [...new Set(words)].slice(0, bounds.words);
}

/** The digits of a phone number, its first ones where there are very many. */
function digitsOf(phone: string): string {
  return plainDigits(phone.slice(0, bounds.text)).slice(0, bounds.digits);
}

/** The digits of a text, of any script, as 0 to 9. */
function plainDigits(text: string): string {
  if (ascii.test(text)) return text.replaceAll(/[^0-9]/g, '');
  return parseIncompletePhoneNumber(text).replaceAll(/[^0-9]/g, '');
}

/** A phone number to look for. Stored numbers are compared by their digits from the end. */
export interface PhoneSearch {
  /** The last digits, in reverse; all of them where `isWhole`. */
  readonly reversed: string;
  readonly isWhole: boolean;
  /** Where the number is known in full: a stored one that is known in full too must be the same. */
  readonly e164?: string | undefined;
  /** More digits, in reverse, that a stored number must end in that is known in full. */
  readonly longer?: string | undefined;
}

/** Below this many digits a number is no number to find others by: 1234567 is one, 112 is itself. */
const significantDigits = 7;

/** From this many digits on, a country code may stand before them without `+`: 442079460958. */
const internationalDigits = 11;

/**
 * How to find a phone number however it is spelled: `+44 20 7946 0958`, `0044 (20) 79460958`, `442079460958` and
 * `020 7946 0958` are one.
 *
 * @returns `undefined` for a text without a digit.
 */
export function phoneSearch(phone: string): PhoneSearch | undefined {
  const all = plainDigits(phone.slice(-bounds.text));
  if (all === '') return undefined;
  const parsed = parsePhone(phone) ?? (all.startsWith('00') ? parsePhone(`+${all.slice(2)}`) : undefined);
  const guessed =
    parsed === undefined && all.length >= internationalDigits ? parsePhone(`+${all}`) : undefined;
  // Without what is dialled before the number: it depends on where one stands.
  const significant = (parsed ?? guessed)?.national ?? all.replace(/^0+/, '');
  const isWhole = significant.length < significantDigits;
  return {
    reversed: reverse(isWhole ? all : significant).slice(0, bounds.digits),
    isWhole,
    e164: parsed?.e164,
    longer: guessed && reverse(all),
  };
}

/** What a person types into a search box: words, part of a phone number, or an id. */
export interface LeadSearch {
  /** Beginnings of words, all of which a lead must have. */
  readonly words: readonly string[];
  /** The beginning of a phone number, and its end in reverse. */
  readonly phone?: { readonly digits: string; readonly reversed: string };
  /** The first and the last id that begin as was typed. */
  readonly ids?: { readonly first: string; readonly last: string };
}

const phoneLike = /^[+()\s./-]*[0-9][+()\s./0-9-]*$/;
/** At least the first group of a UUID: less would find a quarter of an hour's leads. */
const idLike = /^[0-9a-f]{8}[0-9a-f-]*$/i;
const hexDigits = 32;

/** Every lead with an address has this word, so that looking for it finds none and takes long. */
const endOfEmail = /(@[^@\s]+)\.io$/i;

export function leadSearch(text: string): LeadSearch {
  const typed = text.trim();
  const digits = phoneLike.test(typed) ? digitsOf(typed) : '';
  const hex = idLike.test(typed) ? typed.replaceAll('-', '').toLowerCase() : '';
  return {
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

/** The end of a phone number, in reverse: without its country where it is typed in full. */
function phoneEnd(typed: string, digits: string): string {
  const whole = phoneSearch(typed);
  const isFull = whole?.e164 !== undefined && !whole.isWhole;
  return isFull ? whole.reversed : reverse(digits.replace(/^0+(?=\d)/, ''));
}

function reverse(digits: string): string {
  return Array.from(digits).toReversed().join('');
}
