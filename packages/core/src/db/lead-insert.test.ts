import { describe, expect, test } from 'vitest';
import { databaseOptions, leadOf } from '../../test/database.ts';
import { openLeadStore, optionalFields, waitingForLocks } from '../../test/lead-store.ts';
import type { StoredLead } from '../lead/lead.ts';
import type { InsertOutcome, LeadToInsert } from '../lead/lead-store.ts';
import { newId } from '../uuid.ts';
import { openDatabase } from './client.ts';
import { DatabaseError } from './database-error.ts';
import { createLeadStore } from './lead-store.prisma.ts';

const { testDatabase, store, tenant, otherTenant } = await openLeadStore();

/** Returns the stored rows with the field names of the domain, without their nulls. */
async function stored(): Promise<StoredLead[]> {
  const rows = await testDatabase.query(`
    SELECT id, workspace_id AS "workspaceId", campaign_id AS "campaignId", user_id AS "userId", source, status,
      name, phone, phone_e164 AS "phoneE164", address, email, country, region, city, street, zipcode, website,
      description, state, host(ip) AS ip, s1, lp_name AS "lpName", extra::text AS extra,
      version, content_hash AS "contentHash", duplicate_of AS "duplicateOf",
      created_at AS "createdAt", updated_at AS "updatedAt"
    FROM lead ORDER BY id`);
  return rows.map(
    (row) =>
      Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as unknown as StoredLead,
  );
}

const addedBy = (outcomes: readonly InsertOutcome[]) =>
  outcomes.flatMap((outcome) => (outcome.result === 'added' ? outcome.lead : []));
const idsOf = (outcomes: readonly InsertOutcome[]) => addedBy(outcomes).map(({ id }) => id);
const added = (lead: StoredLead): InsertOutcome => ({ result: 'added', lead });
const repeated = ({ id }: StoredLead): InsertOutcome => ({ result: 'repeated', id });
const byId = (leads: readonly StoredLead[]) => leads.toSorted((a, b) => (a.id < b.id ? -1 : 1));
const optionalNames = Object.keys(optionalFields) as (keyof typeof optionalFields)[];

describe('insert', () => {
  test('stores every field of a lead unchanged', async () => {
    const lead = leadOf(tenant, { ...optionalFields, source: 'intake', status: 'Approved' });
    expect(await store.insert([lead])).toEqual([added(lead)]);
    expect(await stored()).toEqual([lead]);
  });

  test('stores a lead without optional fields', async () => {
    const lead = leadOf(tenant);
    await store.insert([lead]);
    expect(await stored()).toEqual([lead]);
  });

  test('stores 1,000 leads in one call, with nulls and values in every column', async () => {
    const leads = Array.from({ length: 1_000 }, (_, i) =>
      leadOf(i % 3 === 0 ? otherTenant : tenant, {
        name: `Lead ${i}`,
        source: i % 2 === 0 ? 'crm' : 'intake',
        createdAt: new Date(1_700_000_000_000 + i),
        updatedAt: new Date(1_700_000_000_000 + 2 * i),
        ...Object.fromEntries(
          optionalNames.filter((_name, at) => (i + at) % 4 === 0).map((n) => [n, optionalFields[n]]),
        ),
      }),
    );
    expect(await store.insert(leads)).toEqual(leads.map(added));
    expect(await stored()).toEqual(byId(leads));
  });

  test.each(optionalNames)('stores the nulls of %s in the right rows', async (name) => {
    const leads = [
      leadOf(tenant),
      leadOf(tenant, { [name]: optionalFields[name] }),
      leadOf(tenant),
      leadOf(tenant, { [name]: undefined }),
    ];
    await store.insert(leads);
    expect(await stored()).toEqual(
      byId(leads).map((lead) => Object.fromEntries(Object.entries(lead).filter(([, v]) => v !== undefined))),
    );
  });

  test.for(['in one batch', 'one by one'])('stores hostile text unchanged if sent %s', async (how) => {
    const hostile = [
      "'",
      '"',
      '\\',
      '\\\\',
      "\\'",
      '{',
      '}',
      '{}',
      '{a,b}',
      '{"a","b"}',
      '{NULL}',
      'NULL',
      'null',
      '"NULL"',
      ',',
      ';',
      '--',
      '/* */',
      '$1',
      '$$',
      "'); DROP TABLE lead; --",
      '[1:1]={x}',
      '%s',
      '?',
      ' ',
      '  padded  ',
      '\t\r\n',
      '\u0001\u001f\u007f',
      '\u2028\u2029\ufeff',
      '😀👨‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿',
      'é e\u0301 ﷺ Ω Ω',
      'نص عربي עברית',
      '\u{10FFFF}\u{1F600}',
      'x'.repeat(60_000),
    ];
    const leads = hostile.map((text) =>
      leadOf(tenant, {
        name: text,
        phone: text,
        address: text,
        description: text,
        s1: text.slice(0, 255),
        lpName: text,
        extra: JSON.stringify({ [text]: text }),
      }),
    );
    for (const sent of how === 'in one batch' ? [leads] : leads.map((lead) => [lead]))
      await store.insert(sent);
    const rows = await stored();
    const parsed = (lead: StoredLead) => ({ ...lead, extra: JSON.parse(lead.extra ?? '') as unknown });
    expect(rows.map(parsed)).toEqual(byId(leads).map(parsed));
  });

  test('stores an empty text as such, not as null', async () => {
    const empty = () => leadOf(tenant, { address: '', city: '', website: '', s1: '', lpName: '' });
    const leads = [empty(), leadOf(tenant), empty()];
    await store.insert(leads.slice(0, 2));
    await store.insert(leads.slice(2));
    expect(await stored()).toEqual(byId(leads));
  });

  test('stores IPv4 and IPv6 addresses', async () => {
    const ips = ['203.0.113.7', '0.0.0.0', '2001:db8::1', '::1', 'fe80::1'];
    await store.insert(ips.map((ip) => leadOf(tenant, { ip })));
    expect(new Set((await stored()).map(({ ip }) => ip))).toEqual(new Set(ips));
  });

  test('reports the id of the lead that a constraint rejects, and none of its values', async () => {
    const rejected = leadOf(tenant, { name: 'Ada', phoneE164: '12' });
    const leads = [leadOf(tenant), rejected, leadOf(tenant)];
    const error: unknown = await store.insert(leads).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'DatabaseError', sqlState: '23514', rowId: rejected.id });
    expect(String((error as Error).stack)).not.toContain('Ada');
  });

  test('stores nothing if the batch is empty', async () => {
    expect(await store.insert([])).toEqual([]);
    expect(await stored()).toEqual([]);
  });

  test('does not change a lead that already exists', async () => {
    const first = leadOf(tenant, { name: 'First' });
    await store.insert([first]);
    const again = { ...first, ...optionalFields, status: 'Trashed' as const, contentHash: undefined };
    expect(await store.insert([again])).toEqual([repeated(first)]);
    const second = leadOf(tenant, { name: 'Second' });
    expect(await store.insert([again, second])).toEqual([repeated(first), added(second)]);
    expect(await stored()).toEqual(byId([first, second]));
  });

  test('stores the first of two leads with the same id in one call', async () => {
    const first = leadOf(tenant, { name: 'First' });
    expect(await store.insert([first, { ...first, name: 'Second' }])).toEqual([
      added(first),
      repeated(first),
    ]);
    expect(await stored()).toEqual([first]);
  });

  describe('of a lead with an Idempotency-Key', () => {
    const [hash, otherHash] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const reused: InsertOutcome = { result: 'key_reused' };

    test('returns key_reused if a lead with the id and other content is stored, and stores the rest of the batch', async () => {
      const first = leadOf(tenant, { contentHash: hash });
      const without = leadOf(tenant);
      await store.insert([first, without]);
      const other = leadOf(tenant);
      const sent = [
        { ...first, name: 'Other', contentHash: otherHash },
        first,
        other,
        { ...without, contentHash: hash },
        without,
      ];
      expect(await store.insert(sent)).toEqual([
        reused,
        repeated(first),
        added(other),
        reused,
        repeated(without),
      ]);
      expect(await stored()).toEqual(byId([first, without, other]));
    });

    test('compares leads with the same id in one call with the first of them', async () => {
      const first = leadOf(tenant, { contentHash: hash });
      expect(await store.insert([first, { ...first, contentHash: otherHash }, { ...first }])).toEqual([
        added(first),
        reused,
        repeated(first),
      ]);
    });
  });

  describe('of a lead that the release before stored under the id of the workspace and the key', () => {
    const createdAt = new Date();
    const content = {
      name: 'Ada',
      phone: '1',
      address: 'a',
      s1: 's',
      lpName: 'l',
      extra: '{"b": [1], "a": {}}',
    };
    const earlier = (fields: Partial<StoredLead> = {}) =>
      leadOf(tenant, { ...content, createdAt, updatedAt: createdAt, source: 'intake', ...fields });
    const repeatOf = ({ id }: StoredLead, fields: Partial<StoredLead> = {}): LeadToInsert => ({
      ...earlier({ contentHash: Buffer.alloc(32, 1), extra: '{"a":{},"b":[1]}', ...fields }),
      earlierId: id,
    });

    test('returns the id of the earlier lead for the same user and content', async () => {
      const ofIntake = earlier();
      const ofCrm = earlier({ source: 'crm', contentHash: Buffer.alloc(32, 1) });
      await store.insert([ofIntake, ofCrm]);
      const sent = [repeatOf(ofIntake), leadOf(tenant), repeatOf(ofCrm, { source: 'crm', name: 'Edited' })];
      expect((await store.insert(sent)).map((outcome) => outcome.result)).toEqual([
        'repeated',
        'added',
        'repeated',
      ]);
      expect(await store.insert([repeatOf(ofIntake)])).toEqual([repeated(ofIntake)]);
      expect(await stored()).toHaveLength(3);
    });

    test.each<[string, Partial<StoredLead>, Partial<StoredLead>?]>([
      ['another name', { name: 'Eve' }],
      ['another phone', { phone: '2' }],
      ['another address', { address: undefined }],
      ['another s1', { s1: 't' }],
      ['another landing page', { lpName: undefined }],
      ['other fields in extra', { extra: '{"a":{},"b":[2]}' }],
      ['no extra', { extra: undefined }],
      ['the source crm', { source: 'crm' }],
      ['another content hash', { contentHash: Buffer.alloc(32, 2) }, { contentHash: Buffer.alloc(32, 1) }],
      [
        'an earlier lead that is older than 30 days',
        {},
        { createdAt: new Date(Date.now() - 31 * 86_400_000) },
      ],
    ])('adds a lead for %s', async (_case, fields, fieldsOfEarlier) => {
      const first = earlier(fieldsOfEarlier);
      await store.insert([first]);
      const { earlierId: _earlierId, ...lead } = repeatOf(first, fields);
      expect(await store.insert([{ ...lead, earlierId: first.id }])).toMatchObject([
        { result: 'added', lead: { id: lead.id } },
      ]);
      expect(await stored()).toHaveLength(2);
    });

    test('adds a lead for another user', async () => {
      const first = earlier();
      await store.insert([first]);
      const { userId, workspaceId, campaignId } = otherTenant;
      expect(await store.insert([repeatOf(first, { userId, workspaceId, campaignId })])).toMatchObject([
        { result: 'added' },
      ]);
    });
  });

  test('does not deadlock if concurrent calls have the same leads in opposite orders', async () => {
    for (let round = 0; round < 6; round++) {
      const leads = Array.from({ length: 300 }, () => leadOf(tenant));
      const orders = [leads, leads.toReversed(), leads, leads.toReversed()];
      const answers = await Promise.all(orders.map((each) => store.insert(each)));
      expect(answers.flatMap(idsOf).toSorted()).toEqual(leads.map(({ id }) => id).toSorted());
    }
  });

  test('stores and returns each lead once if concurrent calls have the same leads', async () => {
    const leads = Array.from({ length: 100 }, () => leadOf(tenant));
    const answers = await Promise.all(Array.from({ length: 8 }, () => store.insert(leads)));
    expect(answers.flatMap(idsOf).toSorted()).toEqual(leads.map(({ id }) => id).toSorted());
    expect(await stored()).toHaveLength(100);
  });

  test.each<[string, () => Partial<StoredLead>]>([
    ['an email that does not end in .io', () => ({ email: 'ada@example.com' })],
    ['an empty name', () => ({ name: '' })],
    ['a campaign of another workspace', () => ({ campaignId: otherTenant.campaignId })],
    ['an unknown campaign', () => ({ campaignId: newId() })],
    ['text with NUL', () => ({ address: 'a\0b' })],
    ['NUL in extra', () => ({ extra: '{"a":"\\u0000"}' })],
    ['an invalid IP address', () => ({ ip: '300.1.1.1' })],
    ['extra that is not an object', () => ({ extra: '[1]' })],
    ['an unknown status', () => ({ status: 'Lost' as never })],
    ['an invalid id', () => ({ id: 'x' })],
  ])('stores no lead of a batch if one of them has %s', async (_case, fields) => {
    const leads = Array.from({ length: 50 }, () => leadOf(tenant));
    leads[31] = leadOf(tenant, fields());
    await expect(store.insert(leads)).rejects.toBeInstanceOf(DatabaseError);
    expect(await stored()).toEqual([]);
  });
});

describe('duplicate detection', () => {
  const phone = { phone: '+44 20 7946 0958', phoneE164: '+442079460958' };
  const watched = (fields: Partial<LeadToInsert> = {}): LeadToInsert => ({
    ...leadOf(tenant, { ...phone }),
    duplicateWindowSeconds: 3600,
    ...fields,
  });
  const later = (seconds: number) => {
    const createdAt = new Date(1_700_000_000_000 + seconds * 1000);
    return { createdAt, updatedAt: createdAt };
  };
  const marksOf = (outcomes: readonly InsertOutcome[]) =>
    addedBy(outcomes).map(({ status, duplicateOf }) => [status, duplicateOf]);

  test('keeps the first lead of each campaign and number in a batch, and trashes the others', async () => {
    const other = { phone: '+1 202 555 0143', phoneE164: '+12025550143' };
    const leads = [
      watched(),
      watched(other),
      watched({ phone: '0044 20 7946 0958' }),
      watched({ campaignId: tenant.otherCampaignId }),
      watched({ ...otherTenantIds(), ...phone }),
      watched(other),
      watched({ campaignId: tenant.otherCampaignId }),
      watched({ phone: 'ask', phoneE164: undefined }),
      watched({ phone: 'ask', phoneE164: undefined }),
      watched({ campaignId: tenant.otherCampaignId, duplicateWindowSeconds: undefined }),
    ];
    const outcomes = await store.insert(leads);
    const [a, b, , c] = leads.map(({ id }) => id);
    const original = ['OnHold', undefined];
    expect(marksOf(outcomes)).toEqual([
      original,
      original,
      ['Trashed', a],
      original,
      original,
      ['Trashed', b],
      ['Trashed', c],
      original,
      original,
      // The lead has no window, but another lead of the batch has one for the same campaign and number.
      ['Trashed', c],
    ]);
    expect(await store.find({ workspaceId: tenant.workspaceId }, [leads[2]?.id ?? ''])).toMatchObject([
      { status: 'Trashed', duplicateOf: a },
    ]);
  });

  const otherTenantIds = () => {
    const { workspaceId, userId, campaignId } = otherTenant;
    return { workspaceId, userId, campaignId };
  };

  test('links a chain of duplicates to the first lead while each follows within the window', async () => {
    const first = watched(later(0));
    await store.insert([first]);
    for (const seconds of [3600, 7200, 10_800]) {
      const next = watched(later(seconds));
      expect(marksOf(await store.insert([next]))).toEqual([['Trashed', first.id]]);
    }
    const fresh = watched(later(14_401));
    expect(marksOf(await store.insert([fresh]))).toEqual([['OnHold', undefined]]);
    const again = watched(later(14_402));
    expect(marksOf(await store.insert([again]))).toEqual([['Trashed', fresh.id]]);
  });

  test('does not treat a lead that is sent again as a duplicate of itself', async () => {
    const leads = [watched(), watched(), watched({ campaignId: tenant.otherCampaignId })];
    await store.insert(leads);
    const before = await stored();
    expect(await store.insert(leads)).toEqual(leads.map(repeated));
    expect(await store.insert(leads.toReversed())).toEqual(leads.toReversed().map(repeated));
    expect(await stored()).toEqual(before);
  });

  describe('with an Idempotency-Key', () => {
    const hash = Buffer.alloc(32, 1);
    const other = { phone: '+1 202 555 0143', phoneE164: '+12025550143' };
    const outcomesOf = async (leads: readonly LeadToInsert[]) =>
      (await store.insert(leads)).map((outcome) =>
        outcome.result === 'added' ? [outcome.lead.status, outcome.lead.duplicateOf] : outcome.result,
      );
    const original = ['OnHold', undefined];

    test('trashes no lead as a duplicate of a lead of the batch that is stored outside of the window', async () => {
      const [a, b] = [
        watched({ ...later(0), contentHash: hash }),
        watched({ ...later(0), contentHash: hash }),
      ];
      await store.insert([a]);
      await store.insert([{ ...b, ...other }]);
      // Both requests are repeated, the second one with other content.
      const repeats = [
        { ...a, ...later(7200) },
        { ...b, ...later(7200), contentHash: Buffer.alloc(32, 2) },
      ];
      const [first, second] = [watched(later(7200)), watched({ ...later(7200), contentHash: hash })];
      expect(await outcomesOf([...repeats, first, second])).toEqual([
        'repeated',
        'key_reused',
        original,
        ['Trashed', first.id],
      ]);
      const statuses = new Map((await stored()).map(({ id, status }) => [id, status]));
      expect([a, b, first, second].map(({ id }) => statuses.get(id))).toEqual([
        'OnHold',
        'OnHold',
        'OnHold',
        'Trashed',
      ]);
    });

    test('trashes no lead as a duplicate of a lead of the batch that repeats the key of an earlier one with another number', async () => {
      const a = watched({ contentHash: hash });
      const reused = { ...a, ...other, contentHash: Buffer.alloc(32, 2) };
      expect(await outcomesOf([a, reused, watched(other)])).toEqual([original, 'key_reused', original]);
    });

    test('trashes the duplicates of a lead of the batch that is new, or stored within the window', async () => {
      const leads = [watched({ contentHash: hash }), watched({ contentHash: hash }), watched()];
      const [a] = leads;
      const duplicate = ['Trashed', a?.id];
      expect(await outcomesOf(leads)).toEqual([original, duplicate, duplicate]);
      const more = [...leads, watched(), watched({ contentHash: hash })];
      expect(await outcomesOf(more)).toEqual(['repeated', 'repeated', 'repeated', duplicate, duplicate]);
    });
  });

  test('keeps one lead for each number, without deadlocks, in concurrent batches of opposite orders', async () => {
    const numbers = Array.from({ length: 40 }, (_, i) => `+4420794600${10 + i}`);
    const batch = () => numbers.map((number) => watched({ phone: number, phoneE164: number }));
    const batches = Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? batch() : batch().toReversed()));
    const answers = await Promise.all(batches.map((each) => store.insert(each)));
    const stayed = answers.flatMap(addedBy);
    expect(stayed).toHaveLength(320);
    for (const number of numbers) {
      const leads = stayed.filter(({ phoneE164 }) => phoneE164 === number);
      const originals = leads.filter(({ status }) => status === 'OnHold');
      expect(originals).toHaveLength(1);
      for (const lead of leads) {
        expect(lead.duplicateOf).toBe(lead === originals[0] ? undefined : originals[0]?.id);
      }
    }
  });

  test('only 4 concurrent batches of many numbers hold the locks of their numbers, and small batches do not wait for them', async () => {
    await using opened = openDatabase({ ...databaseOptions(testDatabase.url), poolSize: 7 });
    const sut = createLeadStore(opened);
    const batchOf = (at: number, size: number) =>
      Array.from({ length: size }, (_, i) => watched({ phoneE164: `+44207946${at}${10 + i}` }));
    const batches = [...Array.from({ length: 6 }, (_, at) => batchOf(at, 17)), batchOf(6, 16)];
    await testDatabase.query('BEGIN; LOCK TABLE lead IN EXCLUSIVE MODE');
    const inserts = Promise.all(batches.map((each) => sut.insert(each)));
    inserts.catch(() => undefined);
    try {
      await expect.poll(() => testDatabase.query(waitingForLocks)).toEqual([{ count: batches.length }]);
      const locks = await testDatabase.query(
        `SELECT count(*)::int FROM pg_locks JOIN pg_database ON pg_database.oid = database
         WHERE datname = current_database() AND locktype = 'advisory' AND granted`,
      );
      // Each large batch holds 1 lock more, which limits their number.
      expect(locks).toEqual([{ count: 4 * (17 + 1) + 16 }]);
    } finally {
      await testDatabase.query('ROLLBACK');
    }
    expect((await inserts).map((outcomes) => addedBy(outcomes).length)).toEqual([17, 17, 17, 17, 17, 17, 16]);
  });
});
