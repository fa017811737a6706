import { expect, test } from 'vitest';
import { addTenant, changeOf, leadOf } from '../../test/database.ts';
import { openTestDatabase } from '../../test/open-test-database.ts';
import { type DataSubject, ErasureKeys, matchErasures } from '../erasure/erasure.ts';
import { tracesOf } from '../erasure/lead-traces.ts';
import type { StoredLead } from '../lead/lead.ts';
import { parsePhone } from '../lead/phone.ts';
import { newId } from '../uuid.ts';
import { createErasableLeads } from './erasure-store.prisma.ts';
import { createLeadStore } from './lead-store.prisma.ts';

const [database, opened] = await openTestDatabase();
const tenant = await addTenant(database, 'ours');

const keys = new ErasureKeys('x'.repeat(32));
const erasureOf = (subject: DataSubject, more: { at?: Date; workspaceId?: string } = {}) => {
  const id = newId();
  return {
    id,
    at: new Date(Date.now() + 1_000),
    keys: keys.ofSubject(subject),
    seal: keys.seal(id),
    ...more,
  };
};
const matches = (
  subject: DataSubject,
  lead: Partial<StoredLead>,
  more: { at?: Date; workspaceId?: string } = {},
) => {
  const phoneE164 = parsePhone(lead.phone ?? '1', lead.country)?.e164;
  return matchErasures(keys, [erasureOf(subject, more)])(tracesOf(leadOf(tenant, { phoneE164, ...lead })));
};

test.each([
  ['+44 20 7946 0958', undefined],
  ['0044 (0)20 7946-0958', undefined],
  ['011 44 20 7946 0958', undefined],
  ['442079460958', undefined],
  ['020 7946 0958', 'GB'],
  ['020 7946 0958', undefined],
  ['2079460958', undefined],
  ['+４４ ２０ ７９４６ ０９５８', undefined],
  ['٠٢٠ ٧٩٤٦ ٠٩٥٨', undefined],
  ['०२० ७९४६ ०९५८', undefined],
  ['020 7946 0958 ext. 12', undefined],
  ['020 7946 0958 x12', undefined],
  ['02079460958;ext=5', undefined],
  ['+1 202 555 0143 / +44 20 7946 0958', undefined],
  ['202 555 0143, 020 7946 0958', undefined],
  ['020/7946 0958', undefined],
])('an erasure by phone number matches the spelling %s with country %s', (phone, country) => {
  expect(matches({ phone: '+44 20 7946 0958' }, { phone, country })).toBe(true);
  expect(matches({ phone: '020 7946 0958', country: 'GB' }, { phone, country })).toBe(true);
});

test.each([
  ['+46 20 7946 0958', undefined],
  ['020 7946 0958', 'DE'],
  ['+44 20 7946 0959', undefined],
  ['7946 0958', undefined],
  ['12079460958123', undefined],
  ['', undefined],
])('an erasure by phone number does not match %s with country %s', (phone, country) => {
  expect(matches({ phone: '+44 20 7946 0958' }, { phone, country })).toBe(false);
});

test('an erasure by email ignores case, can be limited to a workspace, and does not match later leads', () => {
  const email = 'Ada@Example.io';
  expect(matches({ email: ' ada@example.IO' }, { email })).toBe(true);
  expect(matches({ email }, { extra: '{"more": {"Mail": "ADA@example.io"}}' })).toBe(true);
  expect(matches({ email }, { extra: '{"mail": "other@example.io, ada@example.com"}' })).toBe(false);
  expect(matches({ email }, { email: 'ada@example.com', name: 'ada' })).toBe(false);
  expect(matches({ email }, { email }, { workspaceId: tenant.workspaceId })).toBe(true);
  expect(matches({ email }, { email }, { workspaceId: newId() })).toBe(false);
  expect(matches({ email }, { email, createdAt: new Date(1_001) }, { at: new Date(1_000) })).toBe(false);
  expect(() => keys.ofSubject({ phone: '020 7946 0958' })).toThrow('The phone number is invalid');
});

test('an erasure keeps the unpublished events of other leads in order, and merges an identifying sub-id', async () => {
  const erasable = createErasableLeads(opened);
  const [first, gone, last, alone] = ['one', 'own', 'many', 'own'].map((s1) => leadOf(tenant, { s1 })) as [
    StoredLead,
    StoredLead,
    StoredLead,
    StoredLead,
  ];
  const store = createLeadStore(opened);
  await store.insert([first, gone, last]);
  await store.insert([alone]);
  await store.insert([leadOf(tenant, { s1: 'many' })]);
  const outbox = () =>
    database.query<{ ids: string[]; versions: number[] }>(
      'SELECT lead_ids AS ids, versions FROM lead_outbox ORDER BY id',
    );
  const before = await outbox();
  expect(before.map(({ ids }) => ids.length)).toEqual([3, 1, 1]);
  const isErased = matchErasures(keys, [erasureOf({ ids: [gone.id, alone.id, newId()] })]);
  const counts = { leads: 2, changes: 0, waitingEvents: 2, views: 0, notes: 0, payments: 0 };
  expect(await erasable.visit(isErased, { erase: false })).toMatchObject({ counts });
  expect(await outbox()).toEqual(before);
  expect(await erasable.visit(isErased, { erase: true })).toMatchObject({ counts });
  expect(await outbox()).toEqual([{ ids: [first.id, last.id], versions: [1, 1] }, before[2]]);
  const tallies = await database.query(
    `SELECT kind, value, on_hold AS leads FROM lead_tally
     WHERE of_id = $1 AND kind IN ('s1', 's1_others') ORDER BY 1, 2`,
    [tenant.workspaceId],
  );
  expect(tallies).toEqual([
    { kind: 's1', value: 'many', leads: 2 },
    { kind: 's1', value: 'one', leads: 1 },
    { kind: 's1_others', value: '', leads: 2 },
  ]);
});

test.each([
  ['name', 'ada@example.io'],
  ['phone', ' ADA@example.io '],
  ['description', 'mailto:ada@example.io'],
  ['website', 'Ada Lovelace <ada@example.io>'],
  ['s1', 'ada@example.io'],
  ['lpName', 'ada@example.io'],
  ['extra', '{"contact": ["Ada <ada@example.io>"]}'],
  ['extra', '{"ada@example.io": "yes"}'],
])('an erasure by email finds the address in the field %s of a lead: %s', async (field, text) => {
  const lead = leadOf(tenant, { [field]: text });
  const other = leadOf(tenant, { [field]: text.replace('.io', '.com').replace('.IO', '.com') });
  expect(matches({ email: 'ada@example.io' }, lead)).toBe(true);
  await createLeadStore(opened).insert([lead, other]);
  const isErased = matchErasures(keys, [erasureOf({ email: 'ada@example.io' })]);
  const { leadIds } = await createErasableLeads(opened).visit(isErased, { erase: true });
  expect(leadIds).toEqual([lead.id]);
});

test.each(['name', 'description'])(
  'an erasure by email finds the former value of the field %s',
  async (field) => {
    const lead = leadOf(tenant, { [field]: 'ada@example.io' });
    await createLeadStore(opened).insert([lead]);
    const fields = { [field]: { from: 'ada@example.io', to: 'Ada' } };
    const edit = changeOf(lead, {
      lead: { status: 'OnHold', [field]: 'Ada' },
      change: { status: undefined, fields },
    });
    await createLeadStore(opened).change(tenant.workspaceId, [edit]);
    const isErased = matchErasures(keys, [erasureOf({ email: 'ada@example.io' })]);
    const { leadIds } = await createErasableLeads(opened).visit(isErased, { erase: true });
    expect(leadIds).toEqual([lead.id]);
  },
);
