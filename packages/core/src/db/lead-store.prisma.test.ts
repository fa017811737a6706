import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  addTenant,
  createMigratedDatabase,
  databaseOptions,
  leadOf,
  type Tenant,
  type TestDatabase,
} from '../../test/database.ts';
import type { StoredLead } from '../lead/lead.ts';
import type { LeadPosition, LeadStore } from '../lead/lead-store.ts';
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
  testDatabase = await createMigratedDatabase();
  tenant = await addTenant(testDatabase, 'acme');
  otherTenant = await addTenant(testDatabase, 'umbrella');
  database = openDatabase(databaseOptions(testDatabase.url));
  store = createLeadStore(database);
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await testDatabase[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await testDatabase.query('TRUNCATE lead');
});

/** The rows as they stand, in the names of the domain, without their nulls. */
async function stored(): Promise<StoredLead[]> {
  const rows = await testDatabase.query(`
    SELECT id, workspace_id AS "workspaceId", campaign_id AS "campaignId", user_id AS "userId", source, status,
      name, phone, phone_e164 AS "phoneE164", address, email, country, region, city, street, zipcode, website,
      description, state, host(ip) AS ip, s1, lp_name AS "lpName", extra::text AS extra,
      created_at AS "createdAt", updated_at AS "updatedAt"
    FROM lead ORDER BY id`);
  return rows.map(
    (row) =>
      Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as unknown as StoredLead,
  );
}

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
} as const satisfies Partial<StoredLead>;
const optionalNames = Object.keys(optional) as (keyof typeof optional)[];

describe('insert', () => {
  test('stores every field of a lead to the letter', async () => {
    const lead = leadOf(tenant, { ...optional, source: 'intake', status: 'Approved' });
    expect(await store.insert([lead])).toEqual(new Set([lead.id]));
    expect(await stored()).toEqual([lead]);
  });

  test('stores a lead with no optional field', async () => {
    const lead = leadOf(tenant);
    await store.insert([lead]);
    expect(await stored()).toEqual([lead]);
  });

  test('stores 1,000 leads in one call, nulls and values mixed in every column', async () => {
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
    expect(await store.insert(leads)).toEqual(new Set(leads.map(({ id }) => id)));
    expect(await stored()).toEqual(byId(leads));
  });

  test.each(optionalNames)('keeps nulls in their rows: %s', async (name) => {
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

  test('stores hostile text to the letter', async () => {
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
    await store.insert(leads);
    const rows = await stored();
    const parsed = (lead: StoredLead) => ({ ...lead, extra: JSON.parse(lead.extra ?? '') as unknown });
    expect(rows.map(parsed)).toEqual(byId(leads).map(parsed));
  });

  test('tells empty text from none', async () => {
    const lead = leadOf(tenant, { address: '', city: '', website: '', s1: '', lpName: '' });
    await store.insert([lead, leadOf(tenant)]);
    expect((await stored()).find(({ id }) => id === lead.id)).toEqual(lead);
  });

  test('stores addresses of both families', async () => {
    const ips = ['203.0.113.7', '0.0.0.0', '2001:db8::1', '::1', 'fe80::1'];
    await store.insert(ips.map((ip) => leadOf(tenant, { ip })));
    expect(new Set((await stored()).map(({ ip }) => ip))).toEqual(new Set(ips));
  });

  test('of no lead at all stores nothing', async () => {
    expect(await store.insert([])).toEqual(new Set());
    expect(await stored()).toEqual([]);
  });

  test('leaves a lead that stands as it is, and does not name it', async () => {
    const first = leadOf(tenant, { name: 'First' });
    await store.insert([first]);
    const again = { ...first, name: 'Changed', status: 'Trashed' as const, ...optional };
    expect(await store.insert([again])).toEqual(new Set());
    const second = leadOf(tenant, { name: 'Second' });
    expect(await store.insert([again, second])).toEqual(new Set([second.id]));
    expect(await stored()).toEqual(byId([first, second]));
  });

  test('of an id twice in one call stores the first', async () => {
    const first = leadOf(tenant, { name: 'First' });
    expect(await store.insert([first, { ...first, name: 'Second' }])).toEqual(new Set([first.id]));
    expect(await stored()).toEqual([first]);
  });

  test('of the same leads sent many times at once stores each once, and names each once', async () => {
    const leads = Array.from({ length: 100 }, () => leadOf(tenant));
    const answers = await Promise.all(Array.from({ length: 8 }, () => store.insert(leads)));
    const added = answers.flatMap((ids) => Array.from(ids));
    expect(added.toSorted()).toEqual(leads.map(({ id }) => id).toSorted());
    expect(await stored()).toHaveLength(100);
  });

  test.each<[string, () => Partial<StoredLead>]>([
    ['an email that may not be', () => ({ email: 'ada@example.com' })],
    ['an empty name', () => ({ name: '' })],
    ['a campaign of another workspace', () => ({ campaignId: otherTenant.campaignId })],
    ['a campaign that is not', () => ({ campaignId: newId() })],
    ['text with NUL', () => ({ address: 'a\0b' })],
    ['NUL in extra', () => ({ extra: '{"a":"\\u0000"}' })],
    ['an address that is none', () => ({ ip: '300.1.1.1' })],
    ['extra that is no object', () => ({ extra: '[1]' })],
    ['a status that is none', () => ({ status: 'Lost' as never })],
    ['an id that is none', () => ({ id: 'x' })],
  ])('with one bad row of many (%s) stores nothing', async (_case, fields) => {
    const leads = Array.from({ length: 50 }, () => leadOf(tenant));
    leads[31] = leadOf(tenant, fields());
    await expect(store.insert(leads)).rejects.toBeInstanceOf(DatabaseError);
    expect(await stored()).toEqual([]);
  });
});

describe('list', () => {
  const ids = (leads: readonly { id: string }[]) => leads.map(({ id }) => id);

  test('shows what a representation has, and nothing else', async () => {
    const lead = leadOf(tenant, { ...optional, source: 'intake' });
    await store.insert([lead]);
    await testDatabase.query(`UPDATE lead SET state = 'Virginia'`);
    const shown = {
      id: lead.id,
      name: lead.name,
      phone: lead.phone,
      createdAt: lead.createdAt,
      updatedAt: lead.updatedAt,
      campaignId: lead.campaignId,
      userId: lead.userId,
      ip: '203.0.113.7',
      address: '12 St James Square',
      state: 'Virginia',
      region: 'Greater London',
      country: 'GB',
      status: 'OnHold',
    };
    expect(await store.list({ workspaceId: tenant.workspaceId }, 10)).toEqual([shown]);
  });

  test('keeps to its workspace, and to a user where one is named', async () => {
    const colleague = newId();
    await testDatabase.query(`
      INSERT INTO "user" (id, name, email, updated_at) VALUES ('${colleague}', 'Bob', '${colleague}@example.io', now());`);
    const own = leadOf(tenant);
    const theirs = leadOf(tenant, { userId: colleague });
    await store.insert([own, theirs, leadOf(otherTenant)]);
    const { workspaceId, userId } = tenant;
    expect(new Set(ids(await store.list({ workspaceId }, 10)))).toEqual(new Set([own.id, theirs.id]));
    expect(ids(await store.list({ workspaceId, userId }, 10))).toEqual([own.id]);
    expect(ids(await store.list({ workspaceId, userId: colleague }, 10))).toEqual([theirs.id]);
    expect(await store.list({ workspaceId, userId: otherTenant.userId }, 10)).toEqual([]);
    expect(await store.list({ workspaceId: newId() }, 10)).toEqual([]);
  });

  test('page by page gives every lead once, newest first, even where many came in the same millisecond', async () => {
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
      const rows = await store.list({ workspaceId: tenant.workspaceId }, 10, after);
      seen.push(...ids(rows));
      after = rows.at(-1);
      if (after === undefined) break;
      // What comes meanwhile is newer and belongs on no later page.
      await store.insert([leadOf(tenant)]);
    }
    expect(seen).toEqual(ids(expected));
  });
});

describe('a server that is in another time zone', () => {
  test.each(['America/New_York', 'Asia/Kolkata', 'Pacific/Chatham'])(
    '%s: times stay what they are',
    async (zone) => {
      const own = await createMigratedDatabase();
      await own.query(`ALTER DATABASE ${own.name} SET timezone = '${zone}'`);
      const ownTenant = await addTenant(own, 'own');
      const ownDatabase = openDatabase(databaseOptions(own.url));
      try {
        const at = new Date('2026-03-08T07:30:00.123Z');
        const lead = leadOf(ownTenant, { createdAt: at, updatedAt: at });
        await createLeadStore(ownDatabase).insert([lead]);
        const [row] = await own.query<{ at: Date }>('SELECT created_at AS at FROM lead');
        expect(row?.at).toEqual(at);
        const [listed] = await createLeadStore(ownDatabase).list({ workspaceId: ownTenant.workspaceId }, 1);
        expect(listed?.createdAt).toEqual(at);

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
