import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { newId, uuidOfHex } from '../uuid.ts';
import type { StoredLead } from './lead.ts';
import { type NewLeadFieldName, newLeadFieldNames } from './lead-fields.ts';

/** The header that makes a create request safe to repeat. */
export const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  description:
    'A text that identifies this create request, such as a UUID. A request that repeats the key returns the existing lead and creates no other lead.',
  examples: ['order-4711'],
});
export type IdempotencyKey = Static<typeof IdempotencyKey>;

/**
 * Returns the id of a lead that is created with an `Idempotency-Key`. The id is a UUID of version 8 (RFC 9562, 5.8)
 * that is derived from workspace and key. All instances derive the same id without coordination.
 *
 * @param line the line of an import, which distinguishes the leads of the import.
 */
export function idempotentId(workspaceId: string, key: string, line?: number): string {
  const bytes = createHash('sha256')
    .update(JSON.stringify(line === undefined ? [workspaceId, key] : [workspaceId, key, line]))
    .digest()
    .subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuidOfHex(bytes.toString('hex'));
}

/** Returns the id of a new lead. It is derived from the `Idempotency-Key` if there is one. */
export function leadIdFor(workspaceId: string, idempotencyKey: string | undefined): string {
  return idempotencyKey === undefined ? newId() : idempotentId(workspaceId, idempotencyKey);
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
 * Returns the SHA-256 (32 bytes) of the content of a request and its sender. The order of the fields does not matter.
 * The hash distinguishes a repeated request from another request with the same key.
 */
export function contentHash(lead: StoredLead, campaignCode: string): Buffer {
  const members = Object.entries(lead.extra === undefined ? {} : (JSON.parse(lead.extra) as object));
  for (const name of laterFieldNames) if (lead[name] !== undefined) members.push([name, lead[name]]);
  return createHash('sha256')
    .update(
      JSON.stringify([
        lead.userId,
        campaignCode,
        lead.name,
        lead.phone,
        ...positionalFieldNames.map((name) => lead[name] ?? null),
        members.toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ]),
    )
    .digest();
}
