import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  addTenant,
  changeOf,
  createTestDatabase,
  databaseOptions,
  leadOf,
  leadsOf,
  selection,
  type Tenant,
  type TestDatabase,
} from '../../test/database.ts';
import { LeadsError } from '../errors.ts';
import { type FoundLead, type StoredLead, toLead } from '../lead/lead.ts';
import { detailFields } from '../lead/lead.schema.ts';
import type { LeadStatus } from '../lead/lead-status.ts';
import type { InsertOutcome, LeadPosition, LeadStore, LeadToInsert } from '../lead/lead-store.ts';
import { leadSearch, phoneSearch } from '../lead/search.ts';
import { newId } from '../uuid.ts';
import { type Database, openDatabase } from './client.ts';
import { DatabaseError } from './database-error.ts';
import { createLeadStore } from './lead-store.prisma.ts';

let testDatabase: TestDatabase;
let database: Database;
let store: LeadStore;
let tenant: Tenant;
let otherTenant: Tenant;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  tenant = await addTenant(testDatabase, 'acme');
  otherTenant = await addTenant(testDatabase, 'umbrella');
  // The timeouts are long, because sessions wait for each other for long on a busy machine.
  const timeouts = { connectTimeoutMs: 20_000, statementTimeoutMs: 20_000 };
  database = openDatabase({ ...databaseOptions(testDatabase.url), ...timeouts });
  store = createLeadStore(database);
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await testDatabase[Symbol.asyncDispose]();
});
beforeEach(async () => {
  // The role of a replica disables the trigger that rejects TRUNCATE of the history.
  await testDatabase.query(`SET session_replication_role = replica;
    TRUNCATE lead, lead_change, lead_note, lead_viewer; SET session_replication_role = DEFAULT`);
});

/** Counts the sessions that wait for a lock. Postgres keeps the first count of a transaction unless it is cleared. */
const waitingForLocks = `SELECT pg_stat_clear_snapshot(); SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

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

const optional = {
  phoneE164: '+442079460958',
  address: '12 St James Square',
  email: 'ada@example.io',
  country: 'GB',
  region: 'Greater London',
  city: 'London',
  street: 'St James Square',
  zipcode: 'SW1Y 4JH',
  website: 'https://example.io',
  description: 'Call back',
  ip: '203.0.113.7',
  s1: 'click-1',
  lpName: 'spring-offer',
  extra: '{"utm": "x"}',
  state: 'England',
  contentHash: Buffer.alloc(32, 7),
  duplicateOf: '01900000-0000-7000-8000-00000000abcd',
} as const satisfies Partial<StoredLead>;
const optionalNames = Object.keys(optional) as (keyof typeof optional)[];

describe('insert', () => {
  test('stores every field of a lead unchanged', async () => {
    const lead = leadOf(tenant, { ...optional, source: 'intake', status: 'Approved' });
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
          optionalNames.filter((_name, at) => (i + at) % 4 === 0).map((n) => [n, optional[n]]),
        ),
      }),
    );
    expect(await store.insert(leads)).toEqual(leads.map(added));
    expect(await stored()).toEqual(byId(leads));
  });

  test.each(optionalNames)('stores the nulls of %s in the right rows', async (name) => {
    const leads = [
      leadOf(tenant),
      leadOf(tenant, { [name]: optional[name] }),
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
    const again = { ...first, ...optional, status: 'Trashed' as const, contentHash: undefined };
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

describe('list', () => {
  const ids = (leads: readonly { id: string }[]) => leads.map(({ id }) => id);

  test('returns exactly the fields of the representation', async () => {
    const lead = leadOf(tenant, { ...optional, source: 'intake' });
    await store.insert([lead]);
    const representation = {
      id: lead.id,
      name: lead.name,
      phone: lead.phone,
      createdAt: lead.createdAt.toISOString(),
      updatedAt: lead.updatedAt.toISOString(),
      campaignId: lead.campaignId,
      userId: lead.userId,
      ip: '203.0.113.7',
      address: '12 St James Square',
      state: 'England',
      region: 'Greater London',
      country: 'GB',
      status: 'OnHold',
    };
    const { id, createdAt, updatedAt } = representation;
    const end = { id, createdAt, updatedAt };
    const json = Buffer.from(JSON.stringify([representation]));
    expect(await store.list(selection(tenant), { limit: 1 })).toEqual({
      json,
      ends: [end, end],
      hasMore: false,
    });
  });

  test('returns valid JSON for any text, and distinguishes empty text from no text', async () => {
    const texts = [
      '',
      ' ',
      'O"Brien \\ "x"',
      'line\r\nline\ttab\b\f',
      ...Array.from({ length: 31 }, (_, code) => `a${String.fromCharCode(code + 1)}b`),
      '\u001e',
      '\u001f',
      '\u001e\u001f\u001e',
      '\u007f\u2028\u2029',
      'Žofie 李 😀',
      '</script>{}[],:',
      '"Ž'.repeat(20_000),
      undefined,
    ];
    const leads = texts.flatMap((text) =>
      (['address', 'state', 'region', 'country'] as const).map((field) =>
        leadOf(tenant, { name: text || 'Ada', phone: text || '1', phoneE164: undefined, [field]: text }),
      ),
    );
    await store.insert(leads);
    const listed = leadsOf(await store.list(selection(tenant), { limit: 1000 }));
    const shown = new Map(listed.map((lead) => [lead.id, lead]));
    expect(listed).toHaveLength(leads.length);
    for (const lead of leads) expect(shown.get(lead.id)).toEqual(toLead(lead));
  });

  test('returns only leads of the workspace and, if given, of the user', async () => {
    const colleague = newId();
    await testDatabase.query(`
      INSERT INTO "user" (id, name, email, updated_at) VALUES ('${colleague}', 'Bob', '${colleague}@example.io', now());`);
    const own = leadOf(tenant);
    const theirs = leadOf(tenant, { userId: colleague });
    await store.insert([own, theirs, leadOf(otherTenant)]);
    const { workspaceId, userId } = tenant;
    const all = [own.id, theirs.id];
    for (const [scope, expected] of [
      [{ workspaceId }, all],
      [{ workspaceId, userId }, [own.id]],
      [{ workspaceId, userId: colleague }, [theirs.id]],
      [{ workspaceId, userId: otherTenant.userId }, []],
      [{ workspaceId: newId() }, []],
    ] as const) {
      const selected = selection(tenant, { scope });
      expect(ids(leadsOf(await store.list(selected, { limit: 10 }))).toSorted()).toEqual(expected.toSorted());
      expect(
        ids((await store.scan(selected, { limit: 10 })).map(([id]) => ({ id: String(id) }))).toSorted(),
      ).toEqual(expected.toSorted());
      expect(ids(await store.find(scope, [...all, newId()])).toSorted()).toEqual(expected.toSorted());
      expect(await store.count(selected)).toBe(expected.length);
    }
  });

  test('returns every lead once across pages, newest first, even if many have the same millisecond', async () => {
    const leads = Array.from({ length: 95 }, (_, i) => {
      const at = new Date(1_700_000_000_000 + Math.floor(i / 20));
      return leadOf(tenant, { createdAt: at, updatedAt: at });
    });
    await store.insert([...leads, leadOf(otherTenant)]);
    const expected = leads.toSorted(
      (a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1),
    );
    const seen: string[] = [];
    let after: LeadPosition | undefined;
    for (let page = 0; page < 20; page++) {
      const rows = leadsOf(await store.list(selection(tenant), { limit: 10, after }));
      seen.push(...ids(rows));
      const last = rows.at(-1);
      if (last === undefined) break;
      after = { time: new Date(last.createdAt), id: last.id };
      // A lead that is created meanwhile is newer, so it is on no later page.
      await store.insert([leadOf(tenant)]);
    }
    expect(seen).toEqual(ids(expected));
  });
});

describe('scan and find', () => {
  test('search the campaigns again after the search failed, also for the same export', async () => {
    let failures = 1;
    const failing = createLeadStore({
      ...database,
      select(query, options) {
        if (/FROM campaign/.test(query.text) && failures-- > 0) throw new LeadsError('unavailable');
        return database.select(query, options);
      },
    });
    const lead = leadOf(tenant, { campaignId: tenant.otherCampaignId });
    await store.insert([lead]);
    const selected = selection(tenant, { filter: { search: leadSearch('extra') } });
    await expect(failing.scan(selected, { limit: 10 })).rejects.toMatchObject({ code: 'unavailable' });
    expect((await failing.scan(selected, { limit: 10 })).map(([id]) => id)).toEqual([lead.id]);
  });

  test('return all stored fields and the code of the campaign', async () => {
    const full = leadOf(tenant, { ...optional, source: 'intake', campaignId: tenant.otherCampaignId });
    const bare = leadOf(tenant, { createdAt: new Date(0) });
    await store.insert([full, bare]);
    const expected = [
      { ...full, campaignCode: 'extra' },
      { ...bare, campaignCode: 'default' },
    ];
    const textOf = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value));
    expect(await store.scan(selection(tenant), { limit: 10 })).toEqual(
      expected.map((lead: FoundLead) =>
        detailFields.map((name) => (lead[name] === undefined ? null : textOf(lead[name]))),
      ),
    );
    const { workspaceId } = tenant;
    expect(new Set(await store.find({ workspaceId }, [full.id, bare.id, full.id]))).toEqual(
      new Set(expected),
    );
    expect(await store.find({ workspaceId }, [])).toEqual([]);
  });
});

describe('change', () => {
  const found = async (id: string) => (await store.find({ workspaceId: tenant.workspaceId }, [id]))[0];

  test('stores every editable field, clears absent ones, and keeps all other fields', async () => {
    const from = leadOf(tenant, { ...optional, source: 'intake' });
    const unchanged = leadOf(tenant, optional);
    await store.insert([from, unchanged]);
    const changes = {
      name: 'Grace Hopper',
      phone: '+1 202 555 0143',
      phoneE164: '+12025550143',
      address: '1 Arlington Ridge',
      email: 'grace@example.io',
      country: 'US',
      region: 'South',
      city: 'Arlington',
      street: 'Ridge',
      zipcode: '22201',
      website: 'https://navy.example.io',
      description: 'Bugs',
      state: 'Virginia',
      extra: '{"utm": "y"}',
    };
    // These fields are not editable, so the change must not write them.
    const other = {
      workspaceId: otherTenant.workspaceId,
      userId: otherTenant.userId,
      campaignId: tenant.otherCampaignId,
      source: 'crm',
      ip: '::1',
      s1: 's',
      lpName: 'l',
      createdAt: new Date(0),
    } as const;
    const first = changeOf(from, { lead: { ...changes, ...other } });
    const changed = await store.change(tenant.workspaceId, [first]);
    expect(changed.get(from.id)).toEqual({ updatedAt: first.change.createdAt });
    const updatedAt = first.change.createdAt;
    expect(await found(from.id)).toEqual({
      ...from,
      ...changes,
      status: 'Approved',
      version: 2,
      updatedAt,
      campaignCode: 'default',
    });

    const { contentHash, duplicateOf, ip, s1, lpName, ...bare } = { ...from, ...changes };
    const cleared = Object.fromEntries(
      Object.entries(bare).filter(([field]) => !(field in optional)),
    ) as unknown as StoredLead;
    await store.change(tenant.workspaceId, [
      changeOf(
        { ...cleared, version: 2 },
        { change: { status: { from: 'OnHold', to: 'Approved' }, fields: { email: {} } } },
      ),
    ]);
    expect(await found(from.id)).toEqual({
      ...cleared,
      contentHash,
      duplicateOf,
      ip,
      s1,
      lpName,
      status: 'Approved',
      version: 3,
      updatedAt: expect.any(Date) as Date,
      campaignCode: 'default',
    });
    expect(await found(unchanged.id)).toEqual({ ...unchanged, campaignCode: 'default' });
  });

  test('skips a lead with another version, and changes the others', async () => {
    const leads = [leadOf(tenant), leadOf(tenant), leadOf(tenant)] as const;
    await store.insert(leads);
    await store.change(tenant.workspaceId, [changeOf(leads[1])]);
    const changed = await store.change(
      tenant.workspaceId,
      leads.map((lead) => changeOf(lead)),
    );
    expect([...changed.keys()].toSorted()).toEqual([leads[0].id, leads[2].id].toSorted());
    for (const { id } of leads) {
      expect((await found(id))?.version).toBe(2);
      expect(await store.history({ id, workspaceId: tenant.workspaceId }, 0, 10)).toHaveLength(1);
    }
    expect(await store.change(tenant.workspaceId, [changeOf(leadOf(tenant))])).toEqual(new Map());
    expect(await store.change(tenant.workspaceId, [])).toEqual(new Map());
  });

  test('succeeds for one of several concurrent changes of a version', async () => {
    const lead = leadOf(tenant);
    await store.insert([lead]);
    for (let version = 1; version <= 10; version++) {
      const wins = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          store.change(tenant.workspaceId, [
            changeOf(
              { ...lead, version },
              { lead: { city: String(i) }, change: { status: undefined, fields: { city: { to: i } } } },
            ),
          ]),
        ),
      );
      expect(wins.filter(({ size }) => size === 1)).toHaveLength(1);
    }
    const { version, city } = (await found(lead.id)) ?? {};
    const history = await store.history(lead, 0, 100);
    expect(version).toBe(11);
    expect(history.map((entry) => entry.version)).toEqual(Array.from({ length: 10 }, (_, i) => i + 2));
    expect(history.at(-1)?.fields).toEqual({ city: { to: Number(city) } });
  });

  test('does not deadlock if concurrent calls have the same leads in opposite orders', async () => {
    const leads = Array.from({ length: 50 }, () => leadOf(tenant));
    await store.insert(leads);
    for (let version = 1; version <= 5; version++) {
      // All calls wait for the lead in the middle.
      await testDatabase.query(`BEGIN; SELECT id FROM lead WHERE id = '${leads[25]?.id}' FOR UPDATE`);
      const changes = leads.map((lead) =>
        changeOf({ ...lead, version }, { change: { status: undefined, fields: { city: { to: 'x' } } } }),
      );
      const orders = [changes, changes.toReversed(), changes, changes.toReversed()];
      const changing = Promise.all(orders.map((each) => store.change(tenant.workspaceId, each)));
      await expect.poll(() => testDatabase.query(waitingForLocks)).toEqual([{ count: orders.length }]);
      await testDatabase.query('COMMIT');
      const answers = await changing;
      expect(answers.flatMap((times) => Array.from(times.keys())).toSorted()).toEqual(
        leads.map(({ id }) => id).toSorted(),
      );
    }
  });

  test('rolls back both the lead and its entry in the history if one of them is rejected', async () => {
    const leads = [leadOf(tenant), leadOf(tenant)] as const;
    await store.insert(leads);
    // The history rejects an unknown transition, a missing reason, an empty change and an unknown user.
    for (const change of [
      { status: { from: 'OnHold', to: 'Paid' } },
      { status: { from: 'OnHold', to: 'Trashed' } },
      { status: undefined },
      { userId: newId() },
    ] as const) {
      const changes = [changeOf(leads[0]), changeOf(leads[1], { change })];
      await expect(store.change(tenant.workspaceId, changes)).rejects.toBeInstanceOf(DatabaseError);
    }
    for (const lead of leads) {
      expect(await found(lead.id)).toEqual({ ...lead, campaignCode: 'default' });
      expect(await store.history(lead, 0, 10)).toEqual([]);
    }
  });

  test('stores the time of the last update if the clock of the process is behind it', async () => {
    const lead = leadOf(tenant);
    await store.insert([lead]);
    const past = new Date(lead.updatedAt.getTime() - 60_000);
    const changed = await store.change(tenant.workspaceId, [changeOf(lead, { change: { createdAt: past } })]);
    expect(changed.get(lead.id)).toEqual({ updatedAt: lead.updatedAt });
    expect(await store.history(lead, 0, 1)).toMatchObject([{ createdAt: lead.updatedAt }]);
  });

  test('makes a lead searchable by its new values, and no longer by its old ones', async () => {
    const lead = leadOf(tenant, { phoneE164: '+442079460958', email: 'ada@example.io' });
    await store.insert([lead]);
    const ids = async (filter: object) =>
      leadsOf(await store.list(selection(tenant, { filter }), { limit: 10 })).map(({ id }) => id);
    const before = [{ phone: phoneSearch('020 7946 0958') }, { search: leadSearch('lovelace') }];
    const after = [{ phone: phoneSearch('202 555 0143') }, { search: leadSearch('hopper grace@nav') }];
    for (const filter of before) expect(await ids(filter)).toEqual([lead.id]);
    const changes = {
      name: 'Grace Hopper',
      phone: '+1 202 555 0143',
      phoneE164: '+12025550143',
      email: 'grace@navy.io',
    };
    await store.change(tenant.workspaceId, [changeOf(lead, { lead: changes })]);
    for (const filter of before) expect(await ids(filter)).toEqual([]);
    for (const filter of after) expect(await ids(filter)).toEqual([lead.id]);
  });
});

describe('changeStatus', () => {
  const found = async (id: string) => (await store.find({ workspaceId: tenant.workspaceId }, [id]))[0];
  const changeTo = (id: string, to: LeadStatus, from: readonly LeadStatus[], more = {}) => ({
    id,
    from,
    to,
    userId: tenant.userId,
    createdAt: new Date(),
    ...more,
  });

  test('changes a lead of any version that has one of the statuses, and returns it as it is found', async () => {
    const lead = leadOf(tenant, optional);
    await store.insert([lead, leadOf(tenant)]);
    await store.change(tenant.workspaceId, [changeOf(lead)]);
    const reason = 'it\'s "x", {y}';
    const change = changeTo(lead.id, 'Trashed', ['OnHold', 'Approved'], { reason });
    const changed = await store.changeStatus(tenant.workspaceId, change);
    expect(changed).toEqual(await found(lead.id));
    const { createdAt: updatedAt } = change;
    expect(changed).toMatchObject({ status: 'Trashed', version: 3, updatedAt, address: optional.address });
    expect(await store.history(lead, 2, 10)).toEqual([
      {
        version: 3,
        userId: tenant.userId,
        reason,
        createdAt: updatedAt,
        status: { from: 'Approved', to: 'Trashed' },
      },
    ]);
    // The clock of another instance may be behind.
    const earlier = changeTo(lead.id, 'OnHold', ['Trashed'], { createdAt: new Date(0) });
    expect(await store.changeStatus(tenant.workspaceId, earlier)).toMatchObject({ version: 4, updatedAt });
  });

  test('changes no lead of another status, of another workspace or that does not exist', async () => {
    const lead = leadOf(tenant);
    await store.insert([lead]);
    const unchanged = [
      [tenant, changeTo(lead.id, 'Paid', ['Approved'])],
      [otherTenant, changeTo(lead.id, 'Approved', ['OnHold'])],
      [tenant, changeTo(newId(), 'Approved', ['OnHold'])],
    ] as const;
    for (const [{ workspaceId }, change] of unchanged) {
      expect(await store.changeStatus(workspaceId, change)).toBeUndefined();
    }
    expect(await store.history(lead, 0, 1)).toEqual([]);
    expect(await found(lead.id)).toMatchObject({ status: 'OnHold', version: 1 });
  });

  test('succeeds for one of several concurrent changes, and keeps a concurrent edit', async () => {
    const lead = leadOf(tenant);
    await store.insert([lead]);
    await testDatabase.query(`BEGIN; SELECT id FROM lead WHERE id = '${lead.id}' FOR UPDATE`);
    const edit = changeOf(lead, {
      lead: { status: 'OnHold', city: 'Oslo' },
      change: { status: undefined, fields: { city: { to: 'Oslo' } } },
    });
    const changes = [
      store.change(tenant.workspaceId, [edit]).then(({ size }) => size === 1),
      ...Array.from({ length: 3 }, async () => {
        const change = changeTo(lead.id, 'Approved', ['OnHold']);
        return (await store.changeStatus(tenant.workspaceId, change)) !== undefined;
      }),
    ];
    await expect.poll(() => testDatabase.query(waitingForLocks)).toEqual([{ count: changes.length }]);
    await testDatabase.query('COMMIT');
    const [edited, ...approved] = await Promise.all(changes);
    expect(approved.filter((changed) => changed)).toHaveLength(1);
    const { version, city } = (await found(lead.id)) ?? {};
    expect([version, city]).toEqual(edited === true ? [3, 'Oslo'] : [2, undefined]);
    expect((await store.history(lead, 0, 10)).map((entry) => entry.version)).toEqual(
      edited === true ? [2, 3] : [2],
    );
  });
});

describe('history', () => {
  test('returns the changes above a version in order, up to a limit', async () => {
    const lead = leadOf(tenant);
    await store.insert([lead]);
    const at = (second: number) => new Date(lead.createdAt.getTime() + second * 1000);
    const { userId } = tenant;
    const fields = { extra: { from: { a: [1, null, 'é'] } }, city: { to: 'London' } };
    const entries = [
      { userId, status: { from: 'OnHold', to: 'Approved' }, createdAt: at(1) },
      { userId, fields, createdAt: at(2) },
      { userId, status: { from: 'Approved', to: 'Trashed' }, reason: 'it\'s "x"', fields, createdAt: at(3) },
      { userId, fields: { name: { from: 'a', to: 'b' } }, reason: 'why', createdAt: at(4) },
    ] as const;
    for (const [i, entry] of entries.entries()) {
      const change = { status: undefined, ...entry };
      await store.change(tenant.workspaceId, [changeOf({ ...lead, version: i + 1 }, { change })]);
    }
    const expected = entries.map((entry, i) => Object.assign({ version: i + 2 }, entry));
    expect(await store.history(lead, 0, 10)).toEqual(expected);
    expect(await store.history(lead, 1, 10)).toEqual(expected);
    expect(await store.history(lead, 3, 10)).toEqual(expected.slice(2));
    expect(await store.history(lead, 2, 2)).toEqual(expected.slice(1, 3));
    expect(await store.history(lead, 5, 2)).toEqual([]);
    expect(await store.history({ id: newId(), workspaceId: tenant.workspaceId }, 0, 10)).toEqual([]);
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
    await using opened = openDatabase({
      ...databaseOptions(testDatabase.url),
      connectTimeoutMs: 20_000,
      statementTimeoutMs: 20_000,
      poolSize: 7,
    });
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

describe('a server in another time zone', () => {
  test.each(['America/New_York', 'Asia/Kolkata', 'Pacific/Chatham'])(
    'stores and returns times unchanged (%s)',
    async (zone) => {
      const own = await createTestDatabase();
      await own.query(`ALTER DATABASE ${own.name} SET timezone = '${zone}'`);
      const ownTenant = await addTenant(own, 'own');
      const ownDatabase = openDatabase(databaseOptions(own.url));
      try {
        const at = new Date('2026-03-08T07:30:00.123Z');
        const lead = leadOf(ownTenant, { createdAt: at, updatedAt: at });
        await createLeadStore(ownDatabase).insert([lead]);
        const [row] = await own.query<{ at: Date }>('SELECT created_at AS at FROM lead');
        expect(row?.at).toEqual(at);
        const [listed] = leadsOf(await createLeadStore(ownDatabase).list(selection(ownTenant), { limit: 1 }));
        expect(listed?.createdAt).toBe(at.toISOString());

        const token = {
          id: newId(),
          workspaceId: ownTenant.workspaceId,
          userId: ownTenant.userId,
          name: 'x',
        };
        const expiresAt = new Date(at.getTime() + 1);
        await ownDatabase.prisma.accessToken.create({ data: { ...token, createdAt: at, expiresAt } });
        expect(await own.query(`SELECT created_at, expires_at FROM access_token`)).toEqual([
          { created_at: at, expires_at: expiresAt },
        ]);
        expect(await ownDatabase.prisma.accessToken.findUnique({ where: { id: token.id } })).toMatchObject({
          createdAt: at,
          expiresAt,
        });
      } finally {
        await ownDatabase[Symbol.asyncDispose]();
        await own[Symbol.asyncDispose]();
      }
    },
  );
});
