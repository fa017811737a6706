import { describe, expect, test } from 'vitest';
import { newId, uuidPattern } from '../uuid.ts';
import { contentHash, idempotentId } from './idempotency.ts';
import type { NewLead } from './lead.schema.ts';
import { fromNewLead } from './lead.ts';

describe('the id derived from an Idempotency-Key', () => {
  const workspace = newId();

  test('is the same UUID of version 8 in every call', () => {
    for (const key of ['k', 'order-4711', 'é', 'x'.repeat(255), ' ', '","', '\u0080']) {
      const id = idempotentId(workspace, key);
      expect(id).toMatch(uuidPattern);
      expect(id).toMatch(/^.{14}8.{4}[89ab]/);
      expect(idempotentId(workspace, key)).toBe(id);
    }
    // Future releases must derive the same id.
    expect(idempotentId('019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f', 'order-4711')).toMatchInlineSnapshot(
      `"04c81a3f-4f90-8990-9dfb-a2b0cf4ff219"`,
    );
  });

  test('differs for another workspace, key or line', () => {
    const ids = [
      idempotentId(workspace, 'a'),
      idempotentId(newId(), 'a'),
      idempotentId(workspace, 'b'),
      idempotentId(workspace, 'A'),
      idempotentId(workspace, 'a '),
      idempotentId(workspace, 'a', 1),
      idempotentId(workspace, 'a', 2),
      idempotentId(workspace, 'a1'),
      idempotentId(workspace, 'a",1'),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('the content hash', () => {
  const body: NewLead = {
    campaignCode: 'DEMO',
    name: 'Ada',
    phone: '+44 20 7946 0958',
    address: 'a',
    email: 'ada@example.io',
    country: 'GB',
    region: 'r',
    city: 'c',
    street: 's',
    zipcode: 'z',
    website: 'w',
    description: 'd',
  };
  Object.assign(body, { extra1: { deep: [1, null] }, extra2: 'x' });
  const placement = { workspaceId: newId(), userId: newId(), campaignId: newId() };
  const hash = (sent: NewLead, place: Partial<typeof placement> = {}) =>
    contentHash(fromNewLead(sent, { ...placement, ...place }).lead, sent.campaignCode).toString('hex');

  test('does not depend on the order of the fields, the time or the id of the campaign', () => {
    const reversed = Object.fromEntries(Object.entries(body).toReversed()) as NewLead;
    expect(hash(reversed)).toBe(hash(body));
    expect(hash(body, { campaignId: newId() })).toBe(hash(body));
    // Stored leads keep the hash that an earlier release computed.
    expect(hash(body, { userId: 'u' })).toMatchInlineSnapshot(
      `"757df92d12be1c02538d4b397a66673e6e5c26b1f1df79d3eee1888ac4e5ae59"`,
    );
    const { campaignCode, name, phone } = body;
    expect(hash({ campaignCode, name, phone }, { userId: 'u' })).toMatchInlineSnapshot(
      `"6aa4349eb137f70b861edf786ebadf151c6220de73e85916528042105fd30974"`,
    );
  });

  test('differs if a field changes, is absent or moves to another field, and for another sender', () => {
    const others = Object.entries(body).flatMap(([field, value]) => {
      const { [field as keyof NewLead]: _, ...without } = body;
      return [{ ...body, [field]: `${JSON.stringify(value)}!` }, without as NewLead];
    });
    const swapped = { ...body, city: body.street, street: body.city } as NewLead;
    const hashes = [
      hash(body),
      hash(swapped),
      hash(Object.assign({ extra3: null }, body)),
      hash({ ...body, address: '' }),
      hash(body, { userId: newId() }),
      ...others
        .filter(({ campaignCode, name, phone }) => campaignCode && name && phone)
        .map((each) => hash(each)),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
