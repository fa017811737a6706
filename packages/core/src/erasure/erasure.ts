import { createHmac } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { LeadsError } from '../errors.ts';
import { parsePhone } from '../lead/phone.ts';
import type { LeadTraces } from './lead-traces.ts';

/** Whose leads are to be erased: all that is named. */
export interface Whom {
  readonly ids?: readonly string[] | undefined;
  readonly phone?: string | undefined;
  /** A two-letter code (ISO 3166-1) to read a phone number by that is without its country code. */
  readonly country?: string | undefined;
  readonly email?: string | undefined;
}

/**
 * An erasure, as it is kept to be done again after a restore. It holds nobody's data: a key is a keyed hash, and
 * without the secret nobody can try whose it is.
 */
export interface Erasure {
  readonly id: string;
  /** Leads that were created later are not meant. */
  readonly at: Date;
  /** The only workspace it is about; without it, all. */
  readonly workspaceId?: string | undefined;
  readonly keys: readonly string[];
  /** Tells whether the keys were made with a secret. */
  readonly seal: string;
}

const ErasureJson = Type.Object({
  id: Type.String({ format: 'uuid' }),
  at: Type.String({ format: 'date-time' }),
  workspaceId: Type.Optional(Type.String({ format: 'uuid' })),
  keys: Type.Array(Type.String(), { minItems: 1 }),
  seal: Type.String(),
});

/** An erasure as one line of JSON, without its end. */
export function formatErasure({ id, at, workspaceId, keys, seal }: Erasure): string {
  const json: Static<typeof ErasureJson> = { id, at: at.toISOString(), keys: [...keys], seal };
  return JSON.stringify(workspaceId === undefined ? json : { ...json, workspaceId });
}

/** @throws Error for what is no erasure. */
export function parseErasure(line: string): Erasure {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    json = undefined;
  }
  if (!Value.Check(ErasureJson, json)) throw new Error('A line of the erasure log is none');
  return { ...json, at: new Date(json.at) };
}

/** Makes keys of what tells of whom a lead is. The secret is needed again for as long as erasures are kept. */
export class ErasureKeys {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
  }

  seal(id: string): string {
    return this.#hash('seal', id);
  }

  /** Whether an erasure was made with this secret: with another it would find nobody, without a word. */
  hasMade({ id, seal }: Erasure): boolean {
    return seal === this.seal(id);
  }

  ofId(id: string): string {
    return this.#hash('id', id.toLowerCase());
  }

  /** @throws LeadsError `invalid_input` for a phone number that cannot be read in full. */
  ofWhom({ ids = [], phone, country, email }: Whom): string[] {
    const keys = ids.map((id) => this.ofId(id));
    if (phone !== undefined) {
      const number = parsePhone(phone, country);
      if (number === undefined) {
        throw new LeadsError('invalid_input', {
          message: 'The phone number cannot be read: give it with its country code, or its country',
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

  /** All keys by which a lead may be meant. A number that is known in full is compared in full only. */
  ofTraces({ id, phones, emails }: LeadTraces): string[] {
    return [
      this.ofId(id),
      ...phones.map(({ phone, e164 }) =>
        e164 === undefined ? this.#hash('digits', digitsOf(phone)) : this.#hash('e164', e164),
      ),
      ...emails.map((email) => this.#hash('email', foldEmail(email))),
    ];
  }

  #hash(kind: 'digits' | 'e164' | 'email' | 'id' | 'seal', value: string): string {
    const hash = createHmac('sha256', this.#secret).update(`${kind}:${value}`).digest();
    return hash.subarray(0, 16).toString('base64url');
  }
}

/** Whether a lead is one of those that are to be erased. */
export type IsErased = (traces: LeadTraces) => boolean;

/** Tells leads that any of the erasures is about. */
export function whatIsErased(keys: ErasureKeys, erasures: readonly Erasure[]): IsErased {
  const erasuresByKey = new Map<string, Erasure[]>();
  for (const erasure of erasures) {
    for (const key of erasure.keys) {
      const standing = erasuresByKey.get(key);
      if (standing === undefined) erasuresByKey.set(key, [erasure]);
      else standing.push(erasure);
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

/** Below so many digits a number without its country is no number to find others by. */
const significantDigits = 7;

/** What people dial before a number within their country, and before a country's code. */
const trunkPrefixes = ['', '0', '1', '8'];
const internationalPrefixes = ['', '00', '011'];

/** The digits of a number, as it may stand in a lead whose country nobody knows. */
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

function digitsOf(phone: string): string {
  return phone.normalize('NFKC').replaceAll(/[^0-9]/g, '');
}

function foldEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}
