import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { newId, uuidOfHex } from '../uuid.ts';
import type { StoredLead } from './lead.ts';

/** The header that makes a create safe to repeat. */
export const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  description:
    'Any text of the caller that names this one create, such as a UUID: sent again, the lead that it made is answered, and no second one is made.',
  examples: ['order-4711'],
});
export type IdempotencyKey = Static<typeof IdempotencyKey>;

/**
 * The id of a lead that is created with an `Idempotency-Key`: a UUID of version 8 (RFC 9562, 5.8) made from
 * workspace and key, so that every instance comes to the same one without asking any other.
 *
 * @param line tells apart the leads of one import.
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

/** The id that a lead of the intake gets. */
export function leadIdFor(workspaceId: string, idempotencyKey: string | undefined): string {
  return idempotencyKey === undefined ? newId() : idempotentId(workspaceId, idempotencyKey);
}

/**
 * SHA-256 (32 bytes) of what was sent and by whom, whatever the order of its fields: tells a repeat from another
 * lead under the same key.
 */
export function contentHash(lead: StoredLead, campaignCode: string): Buffer {
  const extra = lead.extra === undefined ? {} : (JSON.parse(lead.extra) as object);
  return createHash('sha256')
    .update(
      JSON.stringify([
        lead.userId,
        campaignCode,
        lead.name,
        lead.phone,
        lead.address ?? null,
        lead.email ?? null,
        lead.country ?? null,
        lead.region ?? null,
        lead.city ?? null,
        lead.street ?? null,
        lead.zipcode ?? null,
        lead.website ?? null,
        lead.description ?? null,
        Object.entries(extra).toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ]),
    )
    .digest();
}
