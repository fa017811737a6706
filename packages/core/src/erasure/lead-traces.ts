import type { StoredLead } from '../lead/lead.ts';
import { digitsOf, parsePhone, plainPhone, withoutExtension } from '../lead/phone.ts';
import { foldWords } from '../lead/search.ts';

/** The data of a lead that identifies a person. */
export interface LeadTraces {
  readonly id: string;
  readonly workspaceId: string;
  readonly createdAt: Date;
  /** Current and former numbers, each in E.164 if it is valid. */
  readonly phones: readonly { readonly phone: string; readonly e164?: string | undefined }[];
  readonly emails: readonly string[];
}

/** The fields of a lead that its traces need. Its other fields can contain an email address. */
type Contact = Pick<StoredLead, 'id' | 'workspaceId' | 'createdAt' | 'phone' | 'phoneE164'>;

export function tracesOf(lead: Contact): LeadTraces {
  const { id, workspaceId, createdAt, phone, phoneE164 } = lead;
  return {
    id,
    workspaceId,
    createdAt,
    phones: phoneE164 === undefined ? numbersIn(phone) : [{ phone, e164: phoneE164 }],
    emails: emailsIn(lead),
  };
}

/** Returns the traces in the `fields` of an entry in a lead's history. */
export function tracesOfChange(
  lead: Pick<StoredLead, 'id' | 'workspaceId' | 'createdAt' | 'country'>,
  fields: Readonly<Record<string, { readonly from?: unknown; readonly to?: unknown }>>,
): LeadTraces {
  const phones = [fields['phone']?.from, fields['phone']?.to].filter((value) => typeof value === 'string');
  return {
    id: lead.id,
    workspaceId: lead.workspaceId,
    createdAt: lead.createdAt,
    phones: phones.flatMap((phone) => numbersIn(phone, lead.country)),
    emails: emailsIn(fields),
  };
}

/** Separates two phone numbers in one field, and a number from its extension. */
const separators = /[/;,|&#]|ext|x/i;
/** A text of more characters has no two phone numbers. */
const maxNumbersLength = 250;

/** Returns the number in a field for a phone number. If it is not complete, also returns its parts. */
function numbersIn(phone: string, country?: string): LeadTraces['phones'] {
  const read = (text: string) => ({ phone: text, e164: parsePhone(text, country)?.e164 });
  const whole = read(phone);
  if (whole.e164 !== undefined || phone.length > maxNumbersLength) return [whole];
  return [whole, ...phone.split(separators).map(read)];
}

/** Texts that users wrote about leads, such as the search text of a saved view. */
export interface LeadTexts extends Pick<LeadTraces, 'id' | 'workspaceId' | 'createdAt'> {
  readonly texts: readonly string[];
}

/** Returns the traces in texts. A text can be a phone number, and each of its words can be an email address. */
export function tracesOfTexts({ texts, ...entry }: LeadTexts): LeadTraces {
  return {
    ...entry,
    phones: texts.map((phone) => ({ phone, e164: parsePhone(phone)?.e164 })),
    emails: texts.flatMap((text) => text.split(/\s+/)).flatMap(emailsIn),
  };
}

/** The numbers of digits of a phone number, with the prefixes that people dial. */
const minDigits = 7;
const maxDigits = 18;

/**
 * Returns the traces in the text of a note: its email addresses, and its numbers that can be phone numbers. A number
 * before or after a phone number, such as a time, does not hide it.
 */
export function tracesOfNote({ text, ...entry }: Omit<LeadTexts, 'texts'> & { text: string }): LeadTraces {
  const plain = plainPhone(text.normalize('NFKC'));
  return {
    ...entry,
    phones: phonesIn(plain).map((phone) => ({ phone, e164: parsePhone(phone)?.e164 })),
    emails: plain.match(/[^\s<>()[\],;:"']+@[^\s<>()[\],;:"'?!]*[\p{L}\p{N}]/gu) ?? [],
  };
}

/**
 * Returns all parts of a text that are groups of digits in sequence, with as many digits as a phone number. Behind a `+`,
 * only the sequences from the first group on are returned, because the others lack the country code.
 */
function phonesIn(text: string): string[] {
  const phones: string[] = [];
  for (const [run] of text.matchAll(/\+?[0-9][0-9\s()./-]*/g)) {
    const groups = run.match(/\+?[0-9]+/g) ?? [];
    for (const first of run.startsWith('+') ? [0] : groups.keys()) {
      let phone = '';
      for (const group of groups.slice(first, first + maxDigits)) {
        phone += group;
        if (phone.length > maxDigits) break;
        if (phone.length >= minDigits) phones.push(phone);
      }
    }
  }
  return phones;
}

/** The digits at the end of a phone number that identify its owner. Fewer digits are the end of many numbers. */
const identifyingDigits = 7;

/**
 * Whether a text contains the name, or the end of the phone number, of a lead. A name of several words also matches the
 * beginnings of all its words, such as `ada love`, since the search finds the lead by them.
 */
export function isAbout(
  text: string,
  { name, phone, phoneE164 = phone }: Pick<StoredLead, 'name' | 'phone' | 'phoneE164'>,
): boolean {
  const digits = digitsOf(withoutExtension(text));
  const ofLead = digitsOf(withoutExtension(phoneE164));
  if (digits.length >= identifyingDigits && ofLead.endsWith(digits)) return true;
  const words = foldWords(text);
  const ofName = foldWords(name);
  if (ofName.length < 2) return ofName.length === 1 && words.length === 1 && words[0] === ofName[0];
  return ofName.every((part) =>
    words.some((word) => word === part || (word.length >= 3 && part.startsWith(word))),
  );
}

/** An address behind a scheme, or behind the name of its owner. */
const decoratedEmail = /(?:^mailto:|<)([^<>\s@]+@[^<>\s@]+)>?$/i;

/**
 * Returns all texts with an `@` in a value or in its JSON text. Landing pages send addresses in fields of any name, and
 * people enter them in any field.
 */
function emailsIn(value: unknown): string[] {
  if (typeof value === 'string') {
    if (!value.includes('@')) return [];
    if (value.startsWith('{')) return emailsIn(parsed(value));
    return [value, ...(decoratedEmail.exec(value.trim())?.slice(1) ?? [])];
  }
  return typeof value === 'object' && value !== null ? Object.entries(value).flat().flatMap(emailsIn) : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
