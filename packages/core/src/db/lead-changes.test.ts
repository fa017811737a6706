import { describe, expect, test } from 'vitest';
import { countReads } from '../../test/count-reads.ts';
import { changeOf, leadOf, leadsOf, longDescription, selection, storeEdits } from '../../test/database.ts';
import { openLeadStore, optionalFields, waitingForLocks } from '../../test/lead-store.ts';
import { getLeadEvent } from '../event/get-lead-event.ts';
import type { StoredLead } from '../lead/lead.ts';
import type { LeadStatus } from '../lead/lead-status.ts';
import { leadSearch, phoneSearch } from '../lead/search.ts';
import { newId } from '../uuid.ts';
import { DatabaseError } from './database-error.ts';
import { createLeadStore } from './lead-store.prisma.ts';

const { testDatabase, database, store, tenant, otherTenant } = await openLeadStore();

describe('change', () => {
  const found = async (id: string) => (await store.find({ workspaceId: tenant.workspaceId }, [id]))[0];

  test('stores every editable field, clears absent ones, and keeps all other fields', async () => {
    const from = leadOf(tenant, { ...optionalFields, source: 'intake' });
    const unchanged = leadOf(tenant, optionalFields);
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
      Object.entries(bare).filter(([field]) => !(field in optionalFields)),
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
    const lead = leadOf(tenant, optionalFields);
    await store.insert([lead, leadOf(tenant)]);
    await store.change(tenant.workspaceId, [changeOf(lead)]);
    const reason = 'it\'s "x", {y}';
    const change = changeTo(lead.id, 'Trashed', ['OnHold', 'Approved'], { reason });
    const changed = await store.changeStatus(tenant.workspaceId, change);
    expect(changed).toEqual(await found(lead.id));
    const { createdAt: updatedAt } = change;
    expect(changed).toMatchObject({
      status: 'Trashed',
      version: 3,
      updatedAt,
      address: optionalFields.address,
    });
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

test('the event of an early version is read without the text of the later changes', async () => {
  const lead = leadOf(tenant, { description: longDescription(1) });
  await store.insert([lead]);
  await storeEdits(store, lead, 12);
  const counted = countReads(database);
  const leads = createLeadStore(counted.database);
  const principal = { ...tenant, role: 'owner', scope: 'full' } as const;
  for (const version of [1, 2]) {
    const { data } = await getLeadEvent(leads, principal, lead.id, version);
    expect(data.lead).toMatchObject({ version, description: longDescription(version) });
    expect(data.change.version).toBe(version);
    expect(counted.takeBytes()).toBeLessThan(400_000);
  }
});
