import { describe, expect, test } from 'vitest';
import {
  addTenant,
  createTestDatabase,
  databaseOptions,
  leadOf,
  leadsOf,
  selection,
} from '../../test/database.ts';
import { openLeadStore, optionalFields } from '../../test/lead-store.ts';
import { LeadsError } from '../errors.ts';
import { type FoundLead, toLead } from '../lead/lead.ts';
import { detailFields } from '../lead/lead.schema.ts';
import type { LeadPosition } from '../lead/lead-store.ts';
import { leadSearch, phoneSearch } from '../lead/search.ts';
import { newId } from '../uuid.ts';
import { openDatabase } from './client.ts';
import { createLeadStore } from './lead-store.prisma.ts';

const { testDatabase, database, store, tenant, otherTenant } = await openLeadStore();

describe('list', () => {
  const ids = (leads: readonly { id: string }[]) => leads.map(({ id }) => id);

  test('returns exactly the fields of the representation', async () => {
    const lead = leadOf(tenant, { ...optionalFields, source: 'intake' });
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

  test('compares the last 255 characters of a phone number, so that a long one costs Postgres little', async () => {
    const numbers = [
      '020 7946 0958',
      `${'x'.repeat(60_000)}020 7946 0958`,
      `020 7946 0958${'x'.repeat(242)}`,
    ];
    const found = numbers.map((phone) => leadOf(tenant, { phone, phoneE164: undefined }));
    const beyond = leadOf(tenant, { phone: `020 7946 0958${'x'.repeat(255)}`, phoneE164: undefined });
    await store.insert([...found, beyond]);
    const selected = selection(tenant, { filter: { phone: phoneSearch('+44 20 7946 0958') } });
    expect(ids(leadsOf(await store.list(selected, { limit: 10 }))).toSorted()).toEqual(ids(found).toSorted());
  });

  test.each([
    ['Arabic', '٠٢٠ ٧٩٤٦ ٠٩٥٨'],
    ['Persian', '۰۲۰ ۷۹۴۶ ۰۹۵۸'],
    ['Devanagari', '०२० ७९४६ ०९५८'],
    ['Bengali', '০২০ ৭৯৪৬ ০৯৫৮'],
    ['full-width', '０２０ ７９４６ ０９５８'],
  ])('finds a phone number that is stored with %s digits', async (_script, phone) => {
    const lead = leadOf(tenant, { phone, phoneE164: undefined });
    await store.insert([lead]);
    for (const searched of [phone, '020 7946 0958', '+44 20 7946 0958']) {
      const selected = selection(tenant, { filter: { phone: phoneSearch(searched) } });
      expect(ids(leadsOf(await store.list(selected, { limit: 10 }))), searched).toContain(lead.id);
    }
  });

  test.each([
    '020 7946 0959 ext. 12',
    '(020) 7946-0959 X12',
    '020 7946 0959 extension: 1234567',
    '020 7946 0959#1',
    '020 7946 0959, доб. 12',
    '020 7946 0959 Доб. 12',
    '٠٢٠ ٧٩٤٦ ٠٩٥٩ ext. ١٢',
  ])('finds the number of a lead that is stored as %s without its extension and with it', async (phone) => {
    const lead = leadOf(tenant, { phone, phoneE164: undefined });
    await store.insert([lead]);
    for (const searched of [phone, '020 7946 0959', '+44 20 7946 0959', '+44 20 7946 0959 x7']) {
      const selected = selection(tenant, { filter: { phone: phoneSearch(searched) } });
      expect(ids(leadsOf(await store.list(selected, { limit: 10 }))), searched).toContain(lead.id);
    }
  });

  test('takes a short number behind letters for a number, and not for an extension', async () => {
    const lead = leadOf(tenant, { phone: 'Fax 5550144', phoneE164: undefined });
    await store.insert([lead]);
    const selected = selection(tenant, { filter: { phone: phoneSearch('x 555 0144') } });
    expect(ids(leadsOf(await store.list(selected, { limit: 10 })))).toEqual([lead.id]);
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
    const full = leadOf(tenant, { ...optionalFields, source: 'intake', campaignId: tenant.otherCampaignId });
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
