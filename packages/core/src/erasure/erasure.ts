import { createHmac } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { LeadsError } from '../errors.ts';
import { digitsOf, parsePhone } from '../lead/phone.ts';
import type { LeadTraces } from './lead-traces.ts';

/** A person whose leads are to be erased. A lead matches if one of the fields matches. */
export interface DataSubject {
  readonly ids?: readonly string[] | undefined;
  readonly phone?: string | undefined;
  /** The two-letter code (ISO 3166-1) of the country of a phone number without country code. */
  readonly country?: string | undefined;
  readonly email?: string | undefined;
}

/**
 * An erasure, as it is logged in order to be repeated after a restore. It holds no personal data: a key is a keyed hash,
 * which cannot be guessed without the secret.
 */
export interface Erasure {
  readonly id: string;
  /** Leads that were created later do not match. */
  readonly at: Date;
  /** Limits the erasure to one workspace. */
  readonly workspaceId?: string | undefined;
  readonly keys: readonly string[];
  /** Identifies the secret that the keys were made with. */
  readonly seal: string;
}

const ErasureJson = Type.Object({
  id: Type.String({ format: 'uuid' }),
  at: Type.String({ format: 'date-time' }),
  workspaceId: Type.Optional(Type.String({ format: 'uuid' })),
  keys: Type.Array(Type.String(), { minItems: 1 }),
  seal: Type.String(),
});

/** Formats an erasure as one line of JSON, without a line break. */
export function formatErasure({ id, at, workspaceId, keys, seal }: Erasure): string {
  const json: Static<typeof ErasureJson> = { id, at: at.toISOString(), keys: [...keys], seal };
  return JSON.stringify(workspaceId === undefined ? json : { ...json, workspaceId });
}

/**
 * Parses a line that {@link formatErasure} wrote.
 *
 * @throws Error if the line is not an erasure.
 */
export function parseErasure(line: string): Erasure {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    json = undefined;
  }
  if (!Value.Check(ErasureJson, json)) throw new Error('A line of the erasure log is not an erasure');
  return { ...json, at: new Date(json.at) };
}

/** Hashes the data that identifies a person. The secret must be kept for as long as logged erasures may be repeated. */
export class ErasureKeys {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  seal(id: string): string {
    return this.#hash('seal', id);
  }

  /** Whether an erasure was made with this secret. With another secret it would silently match no lead. */
  hasMade({ id, seal }: Erasure): boolean {
    return seal === this.seal(id);
  }

  ofId(id: string): string {
    return this.#hash('id', id.toLowerCase());
  }

  /**
   * Returns the keys of a data subject.
   *
   * @throws LeadsError `invalid_input` for an incomplete phone number.
   */
  ofSubject({ ids = [], phone, country, email }: DataSubject): string[] {
    const keys = ids.map((id) => this.ofId(id));
    if (phone !== undefined) {
      const number = parsePhone(phone, country);
      if (number === undefined) {
        throw new LeadsError('invalid_input', {
          message: 'The phone number is invalid: add its country code or give its country',
        });
      }
      keys.push(
        this.#hash('e164', number.e164),
        ...spellings(number).map((digits) => this.#hash('digits', digits)),
      );
    }
    if (email !== undefined) keys.push(this.#hash('email', foldEmail(email)));
    return keys;
  }

  /** Returns all keys that match a lead. A complete phone number is compared as a whole only. */
  ofTraces({ id, phones, emails }: LeadTraces): string[] {
    return [
      this.ofId(id),
      ...phones.map(({ phone, e164 }) =>
        e164 === undefined
          ? this.#hash('digits', digitsOf(phone.normalize('NFKC')))
          : this.#hash('e164', e164),
      ),
      ...emails.map((email) => this.#hash('email', foldEmail(email))),
    ];
  }

  #hash(kind: 'digits' | 'e164' | 'email' | 'id' | 'seal', value: string): string {
    const hash = createHmac('sha256', this.#secret).update(`${kind}:${value}`).digest();
    return hash.subarray(0, 16).toString('base64url');
  }
}

/** Whether an erasure matches a lead. */
export type IsErased = (traces: LeadTraces) => boolean;

/** Returns whether any of the erasures matches a lead. */
export function matchErasures(keys: ErasureKeys, erasures: readonly Erasure[]): IsErased {
  const erasuresByKey = new Map<string, Erasure[]>();
  for (const erasure of erasures) {
    for (const key of erasure.keys) {
      const sameKey = erasuresByKey.get(key);
      if (sameKey === undefined) erasuresByKey.set(key, [erasure]);
      else sameKey.push(erasure);
    }
  }
  return (traces) =>
    keys
      .ofTraces(traces)
      .some((key) =>
        erasuresByKey
          .get(key)
          ?.some(
            ({ at, workspaceId = traces.workspaceId }) =>
              traces.createdAt <= at && traces.workspaceId === workspaceId,
          ),
      );
}

/** A national number with fewer digits is too ambiguous to match others. */
const significantDigits = 7;

/** Prefixes that people dial before a national number, and before a country code. */
const trunkPrefixes = ['', '0', '1', '8'];
const internationalPrefixes = ['', '00', '011'];

/** Returns the digits of a number in all forms that a lead without a country may contain. */
function spellings({ e164, national }: { e164: string; national: string }): string[] {
  const all = e164.slice(1);
  const code = all.slice(0, all.length - national.length);
  const international = internationalPrefixes.flatMap((prefix) => [
    `${prefix}${all}`,
    `${prefix}${code}0${national}`,
  ]);
  if (national.length < significantDigits) return international;
  return [...international, ...trunkPrefixes.map((prefix) => `${prefix}${national}`)];
}

function foldEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}
