import { describe, expect, test } from 'vitest';
import { newId, uuidPattern } from '../uuid.ts';
import { contentHash, earlierId, idempotentId, intakeContentHash, outcomeOfRepeat } from './idempotency.ts';
import type { NewLead } from './lead.schema.ts';
import { fromIntakeLead, fromNewLead, type StoredLead } from './lead.ts';

describe('the id derived from an Idempotency-Key', () => {
  const owner = { workspaceId: newId(), userId: newId(), isBrowser: false };

  test('is the same UUID of version 8 in every call', () => {
    for (const key of ['k', 'order-4711', 'é', 'x'.repeat(255), ' ', '","', '\u0080']) {
      const id = idempotentId(owner, key);
      expect(id).toMatch(uuidPattern);
      expect(id).toMatch(/^.{14}8.{4}[89ab]/);
      expect(idempotentId(owner, key)).toBe(id);
    }
    const known = {
      workspaceId: '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f',
      userId: '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e30',
      isBrowser: false,
    };
    // Future releases must derive the same id.
    expect(idempotentId(known, 'order-4711')).toMatchInlineSnapshot(`"5e42b493-e836-8613-bc51-62f512120316"`);
    // The release before derived this id.
    expect(earlierId(known, 'order-4711')).toMatchInlineSnapshot(`"04c81a3f-4f90-8990-9dfb-a2b0cf4ff219"`);
  });

  test('differs for another workspace, user, kind of key, key or line', () => {
    const ids = [
      idempotentId(owner, 'a'),
      idempotentId({ ...owner, workspaceId: newId() }, 'a'),
      idempotentId({ ...owner, userId: newId() }, 'a'),
      idempotentId({ ...owner, isBrowser: true }, 'a'),
      idempotentId(owner, 'b'),
      idempotentId(owner, 'A'),
      idempotentId(owner, 'a '),
      idempotentId(owner, 'a', 1),
      idempotentId(owner, 'a', 2),
      idempotentId(owner, 'a1'),
      idempotentId(owner, 'a",1'),
      earlierId(owner, 'a'),
      earlierId(owner, 'a', 1),
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

describe('the content hash of an intake request', () => {
  const body = { name: 'Ada', phone: '1', s1: 's', lp_name: 'l', address: 'a' };
  Object.assign(body, { extra1: { deep: [1, null] }, extra2: 'x' });
  const hash = (sent: typeof body, ip = '192.0.2.1', campaignId = newId()) => {
    const placement = { workspaceId: newId(), userId: newId(), campaignId };
    return intakeContentHash(fromIntakeLead(sent, placement, ip).lead).toString('hex');
  };

  test('does not depend on the order of the fields, the address of the visitor or the campaign', () => {
    const reversed = Object.fromEntries(Object.entries(body).toReversed()) as typeof body;
    expect(hash(reversed, '2001:db8::1')).toBe(hash(body));
    // Stored leads keep the hash that an earlier release computed.
    expect(hash(body)).toMatchInlineSnapshot(
      `"da218241f81b61822b871f4f7d760e3b0e495f888d5e06024ce65f035c9a2cac"`,
    );
  });

  test('differs if a field changes, is absent or moves to another field', () => {
    const { s1: _s1, ...withoutS1 } = body;
    const { address, ...withoutAddress } = body;
    const hashes = [
      body,
      ...Object.keys(body).map((field) => Object.assign({ ...body }, { [field]: 'other' })),
      withoutS1 as typeof body,
      withoutAddress as typeof body,
      { ...withoutAddress, city: address } as unknown as typeof body,
      { ...body, s1: '' },
      Object.assign({ extra3: null }, body),
    ].map((sent) => hash(sent));
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

describe('the outcome of a repeated request', () => {
  const placement = { workspaceId: newId(), userId: newId(), campaignId: newId() };
  const { lead } = fromNewLead({ campaignCode: 'DEMO', name: 'Ada', phone: '1' }, placement);
  const sent = { ...lead, contentHash: Buffer.alloc(32, 1), earlierId: newId() };
  const outcomeWith = (fields: Partial<StoredLead>) => {
    const stored = { ...sent, ...fields };
    return outcomeOfRepeat(new Map([[stored.id, stored]]), sent);
  };
  const [id, otherHash] = [sent.earlierId, Buffer.alloc(32, 2)];
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

  test('with the id of a stored lead depends on the content only', () => {
    const other = { userId: newId(), createdAt: daysAgo(31) };
    expect(outcomeWith(other)).toEqual({ result: 'repeated', id: sent.id });
    for (const hash of [otherHash, undefined]) {
      expect(outcomeWith({ contentHash: hash })).toEqual({ result: 'key_reused' });
    }
  });

  test('with the earlier id of a stored lead is that lead for 30 days, for the same user and content', () => {
    expect(outcomeWith({ id, createdAt: daysAgo(29) })).toEqual({ result: 'repeated', id });
    for (const fields of [
      { createdAt: daysAgo(31) },
      { userId: newId() },
      { contentHash: otherHash },
      { contentHash: undefined },
    ]) {
      expect(outcomeWith({ id, ...fields })).toBeUndefined();
    }
  });
});
