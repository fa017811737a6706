import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { isBrowserKey, type Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { newId, uuidOfHex } from '../uuid.ts';
import type { StoredLead } from './lead.ts';
import { type NewLeadFieldName, newLeadFieldNames } from './lead-fields.ts';
import type { InsertOutcome, LeadToInsert } from './lead-store.ts';

/** The header that makes a create request safe to repeat. */
export const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  description:
    'A text that identifies this create request, such as a UUID. A request that repeats the key and the content returns the existing lead and creates no other lead. The key is separate for each user and for browser keys.',
  examples: ['order-4711'],
});
export type IdempotencyKey = Static<typeof IdempotencyKey>;

/** The owner of idempotency keys. Another owner's keys are other keys. */
export interface KeyOwner {
  readonly workspaceId: string;
  readonly userId: string;
  /** Whether the request has a browser key. Anyone can read such a key, so it shares no ids with secret credentials. */
  readonly isBrowser: boolean;
}

export function keyOwnerOf(principal: Principal): KeyOwner {
  const { workspaceId, userId } = principal;
  return { workspaceId, userId, isBrowser: isBrowserKey(principal) };
}

/**
 * Returns the id of a lead that is created with an `Idempotency-Key`. The id is a UUID of version 8 (RFC 9562, 5.8)
 * that is derived from the owner and the key. All instances derive the same id without coordination. A new API key of
 * the same user and kind keeps the id.
 *
 * @param line the line of an import, which distinguishes the leads of the import.
 */
export function idempotentId(
  { workspaceId, userId, isBrowser }: KeyOwner,
  key: string,
  line?: number,
): string {
  return idFrom([workspaceId, userId, isBrowser ? 'browser' : 'secret', key, ...lineOf(line)]);
}

/**
 * Returns the id that the release before derived from the workspace and the key only. A lead with this id, the same
 * user and the same content is still found for {@link earlierIdDays} after its creation.
 */
export function earlierId({ workspaceId }: KeyOwner, key: string, line?: number): string {
  return idFrom([workspaceId, key, ...lineOf(line)]);
}

/** How long leads with an {@link earlierId} are found, in days. Then a later release can remove the search for them. */
const earlierIdDays = 30;

/**
 * Returns the outcome of a lead with an `Idempotency-Key` that is stored already; undefined if it is not.
 *
 * @param stored leads by id: those with the id or the {@link earlierId} of the lead.
 */
export function outcomeOfRepeat(
  stored: ReadonlyMap<string, StoredLead>,
  { id, earlierId: earlier = '', userId, contentHash: hash }: LeadToInsert,
): Extract<InsertOutcome, { readonly result: 'repeated' | 'key_reused' }> | undefined {
  const isSame = (lead: StoredLead) => hash !== undefined && lead.contentHash?.equals(hash) === true;
  const sameId = stored.get(id);
  if (sameId !== undefined) return isSame(sameId) ? { result: 'repeated', id } : { result: 'key_reused' };
  const earlierLead = stored.get(earlier);
  return earlierLead !== undefined &&
    earlierLead.userId === userId &&
    earlierLead.createdAt >= earlierIdsSince() &&
    isSame(earlierLead)
    ? { result: 'repeated', id: earlier }
    : undefined;
}

/** Returns the time since when leads with an {@link earlierId} are found. */
export function earlierIdsSince(): Date {
  return new Date(Date.now() - earlierIdDays * 86_400_000);
}

/** Returns the id of a new lead. It is derived from the `Idempotency-Key` if there is one. */
export function leadIdFor(owner: KeyOwner, idempotencyKey: string | undefined): string {
  return idempotencyKey === undefined ? newId() : idempotentId(owner, idempotencyKey);
}

/**
 * Returns the id under which a lead is quarantined that repeats a key with other content. It differs from the id of the
 * stored lead, so that the quarantined lead can be stored, too. It is the same for each delivery of the lead.
 */
export function idOfDifferingLead({ id, contentHash: hash }: StoredLead): string {
  return idFrom([id, hash?.toString('hex') ?? '']);
}

const lineOf = (line: number | undefined) => (line === undefined ? [] : [line]);

/** Returns a UUID of version 8 (RFC 9562, 5.8) that is derived from the parts. */
export function idFrom(parts: readonly (string | number)[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuidOfHex(bytes.toString('hex'));
}

/** The error of a request that repeats an `Idempotency-Key` with other content. */
export function keyReused(): LeadsError {
  return new LeadsError('idempotency_key_reused', {
    fields: [{ at: 'header', path: 'idempotency-key', reason: 'was already used with different content' }],
  });
}

/** The fields that are hashed by their position. This list never changes: stored hashes depend on it. */
const positionalFieldNames = [
  'address',
  'email',
  'country',
  'region',
  'city',
  'street',
  'zipcode',
  'website',
  'description',
] as const satisfies readonly NewLeadFieldName[];

/**
 * Later fields are hashed by their names, like the members of `extra`. So a request that was sent before the field
 * existed, when its value was stored in `extra`, has the same hash now.
 */
const laterFieldNames = newLeadFieldNames.filter(
  (name) => !positionalFieldNames.some((each) => each === name),
);

/**
 * Returns the SHA-256 (32 bytes) of the content of a CRM request and its sender. The order of the fields does not matter.
 * The hash distinguishes a repeated request from another request with the same key.
 */
export function contentHash(lead: StoredLead, campaignCode: string): Buffer {
  const members = membersOf(lead);
  for (const name of laterFieldNames) if (lead[name] !== undefined) members.push([name, lead[name]]);
  return hashOf([
    lead.userId,
    campaignCode,
    lead.name,
    lead.phone,
    ...positionalFieldNames.map((name) => lead[name] ?? null),
    sorted(members),
  ]);
}

/**
 * Returns the SHA-256 (32 bytes) of the content of an intake request. It never equals a hash of {@link contentHash}. It
 * does not depend on the visitor's address or on the campaign, which may differ when the request is repeated.
 */
export function intakeContentHash(lead: StoredLead): Buffer {
  const { name, phone, address = null, s1 = null, lpName = null } = lead;
  return hashOf(['intake', name, phone, address, s1, lpName, sorted(membersOf(lead))]);
}

type Member = [name: string, value: unknown];

const membersOf = ({ extra }: StoredLead): Member[] =>
  Object.entries(extra === undefined ? {} : (JSON.parse(extra) as object));

const sorted = (members: readonly Member[]) => members.toSorted(([a], [b]) => (a < b ? -1 : 1));

function hashOf(content: readonly unknown[]): Buffer {
  return createHash('sha256').update(JSON.stringify(content)).digest();
}
