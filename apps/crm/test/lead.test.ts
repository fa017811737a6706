import type { LeadDetail, LeadHistoryEntry } from '@leads/core/lead';
import type { Answer } from '@leads/test-kit/http-client';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { forbidden, invalidInput, leadsApi, notFound, ok, unknownId } from './leads-api.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const api = leadsApi(service);
const workspace = await fixture.createWorkspace();
const { owner } = workspace;
const manager = await workspace.addMember('manager');
const publisher = await workspace.addMember('publisher');
const other = await fixture.createWorkspace();

const full = {
  name: personalData.name,
  phone: personalData.phone,
  address: personalData.address,
  email: personalData.email,
  country: 'GB',
  region: 'Greater London',
  city: 'London',
  street: 'Wharf Street',
  zipcode: 'E14',
  website: 'https://nest.io',
  description: personalData.description,
};

async function create(body: object = full, member = owner): Promise<LeadDetail> {
  const { lead } = ok<{ lead: { id: string } }>(await api.create(member, body));
  return api.get(member, lead.id);
}

async function edit(id: string, body: object, headers: Record<string, string> = {}, member = owner) {
  return ok<{ lead: LeadDetail }>(await api.edit(member, id, body, headers)).lead;
}

/** Checks that an edit is rejected and changes nothing. */
async function expectRefused(lead: LeadDetail, body: unknown, refusal: [number, object], headers = {}) {
  const answer = await api.edit(owner, lead.id, body, headers);
  expect([body, headers, answer.status, answer.json()]).toEqual([body, headers, ...refusal]);
  expect(await api.get(owner, lead.id)).toEqual(lead);
}

describe('GET of a lead', () => {
  test('returns all submitted fields, the fields of the service, and the version as ETag', async () => {
    const extra = { utm: { source: 'x', n: [1, null] }, s1: 'mine' };
    const { lead } = ok<{ lead: { id: string } }>(await api.create(owner, { ...full, ...extra }));
    const answer = await api.send(owner, 'GET', `/${lead.id}`);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
    expect(answer.json()).toEqual({
      ...full,
      id: lead.id,
      campaignId: workspace.demoCampaignId,
      campaignCode: 'DEMO',
      userId: owner.userId,
      source: 'crm',
      status: 'OnHold',
      version: 1,
      phoneE164: '+442079460958',
      createdAt: time,
      updatedAt: time,
      extra,
    });
    expect(answer.headers.etag).toBe('"1"');
  });

  test('returns the sub-id, landing page and IP address of a lead from the intake, and omits absent fields', async () => {
    const lead = workspace.lead(owner, {
      source: 'intake',
      ip: '2001:db8::7',
      s1: personalData.s1,
      lpName: 'spring',
      campaignId: workspace.defaultCampaignId,
    });
    await fixture.leads.insert([lead]);
    const [campaign] = await fixture.campaigns.list(workspace.id);
    expect(await api.get(owner, lead.id)).toEqual({
      id: lead.id,
      name: personalData.name,
      phone: personalData.phone,
      createdAt: lead.createdAt.toISOString(),
      updatedAt: lead.updatedAt.toISOString(),
      campaignId: workspace.defaultCampaignId,
      campaignCode: campaign?.code,
      userId: owner.userId,
      ip: '2001:db8::7',
      status: 'OnHold',
      version: 1,
      source: 'intake',
      s1: personalData.s1,
      lpName: 'spring',
    });
  });
});

describe('a request for a lead that the caller may not see', () => {
  test.each(['GET', 'PATCH', 'GET history'])('with %s is answered with 404', async (request) => {
    const [method = '', part] = request.split(' ');
    const lead = await create();
    const theirs = other.lead(other.owner);
    await fixture.leads.insert([theirs]);
    const before = await fixture.sql('SELECT * FROM lead ORDER BY id');
    const ids = [
      unknownId(),
      theirs.id,
      'x',
      '1',
      theirs.id.toUpperCase(),
      lead.id.slice(1),
      `${lead.id}0`,
      `%7B${lead.id}%7D`,
      `${lead.id}%00`,
      '%00',
      '%F0%9F%91%8D',
      "'%20OR%20true",
      'a'.repeat(99),
    ];
    for (const id of ids) {
      const path = `/${id}${part === undefined ? '' : `/${part}`}`;
      const body = method === 'PATCH' ? { city: 'X' } : undefined;
      const answer = await api.send(owner, method, path, { body });
      expect([id, answer.status, answer.json()]).toEqual([id, 404, notFound]);
    }
    // A publisher sees only its own leads.
    const body = method === 'PATCH' ? { city: 'X' } : undefined;
    const path = `/${lead.id}${part === undefined ? '' : `/${part}`}`;
    const answer = await api.send(publisher, method, path, { body });
    expect([answer.status, answer.json()]).toEqual([404, notFound]);
    expect(await fixture.sql('SELECT * FROM lead ORDER BY id')).toEqual(before);
    expect((await api.send(manager, method, path, { body })).status).toBe(200);
  });

  test('with any If-Match is answered with 404', async () => {
    const lead = await create();
    for (const tag of ['"1"', '"2"', '*']) {
      const answer = await api.edit(publisher, lead.id, { city: 'X' }, { 'If-Match': tag });
      expect([answer.status, answer.json()]).toEqual([404, notFound]);
    }
  });
});

describe('an edit', () => {
  test('changes the given fields in one version and keeps the others', async () => {
    const before = await create();
    const changes = {
      name: 'Grace Hopper',
      phone: '+1 202 555 0143',
      address: '1 Arlington Ridge',
      email: 'grace@NAVY.IO',
      country: 'US',
      region: 'South',
      city: 'Arlington',
      street: 'Ridge',
      zipcode: '22201',
      state: 'Virginia',
      website: 'x',
      description: 'Bugs',
    };
    const after = await edit(before.id, changes);
    expect(after).toEqual({
      ...before,
      ...changes,
      version: 2,
      phoneE164: '+12025550143',
      updatedAt: after.updatedAt,
    });
    expect(Date.parse(after.updatedAt)).toBeGreaterThanOrEqual(Date.parse(before.updatedAt));
    expect(await api.get(owner, before.id)).toEqual(after);
    for (const [field, value] of Object.entries(changes)) {
      const lead = await create();
      const single = await edit(lead.id, { [field]: value });
      expect(without(single, 'phoneE164', 'updatedAt')).toEqual({
        ...without(lead, 'phoneE164', 'updatedAt'),
        [field]: value,
        version: 2,
      });
    }
  });

  test('removes an optional field if its text is empty, and rejects an empty name or phone with 400', async () => {
    const { name, phone, ...optional } = full;
    const lead = await create();
    await edit(lead.id, { state: 'x' });
    const cleared = await edit(
      lead.id,
      Object.fromEntries([...Object.keys(optional), 'state'].map((field) => [field, ''])),
    );
    for (const field of [...Object.keys(optional), 'state']) expect(cleared).not.toHaveProperty(field);
    expect(cleared).toMatchObject({ name, phone, version: 3 });
    for (const field of ['name', 'phone']) await expectRefused(cleared, { [field]: '' }, [400, invalidInput]);
    const [row] = await fixture.sql('SELECT address, email, state FROM lead WHERE id = $1', [lead.id]);
    expect(row).toEqual({ address: null, email: null, state: null });
  });

  test('of phone or country parses the number again, and only the new number finds the lead', async () => {
    const lead = await create({ name: personalData.name, phone: '020 7946 0111' });
    expect(lead).not.toHaveProperty('phoneE164');
    const british = await edit(lead.id, { country: 'gb' });
    expect(british.phoneE164).toBe('+442079460111');
    const found = async (query: Record<string, string>) =>
      (await api.list(owner, query)).leads.map(({ id }) => id);
    for (const spelling of ['+44 20 7946 0111', '020 7946 0111']) {
      expect(await found({ phone: spelling })).toEqual([lead.id]);
      expect(await found({ q: spelling })).toEqual([lead.id]);
    }
    const moved = await edit(lead.id, { phone: '030 901820', country: 'DE', name: 'Konrad Zuse' });
    expect(moved.phoneE164).toBe('+4930901820');
    for (const spelling of ['+44 20 7946 0111', '020 7946 0111']) {
      expect(await found({ phone: spelling })).toEqual([]);
      expect(await found({ q: spelling })).toEqual([]);
    }
    for (const spelling of ['+49 30 901820', '030 901820', '0049 30 901820']) {
      expect(await found({ phone: spelling })).toEqual([lead.id]);
    }
    expect(await found({ q: 'zuse kon' })).toEqual([lead.id]);
    const unread = await edit(lead.id, { country: '' });
    expect(unread).not.toHaveProperty('phoneE164');
    expect(await found({ phone: '030 901820' })).toEqual([lead.id]);
    const words = await edit(lead.id, { phone: 'ask Konrad' });
    expect(words).not.toHaveProperty('phoneE164');
    expect(await found({ phone: '030 901820' })).toEqual([]);
  });

  test('of unknown fields adds or replaces them in extra, within its limits', async () => {
    const lead = await create({ ...full, a: 1, b: { deep: [1] } });
    const edited = await edit(lead.id, { b: { deep: [2] }, c: null, workspaceId: other.id });
    expect(edited.extra).toEqual({ a: 1, b: { deep: [2] }, c: null, workspaceId: other.id });
    expect(edited).toEqual({
      ...lead,
      version: 2,
      updatedAt: edited.updatedAt,
      extra: edited.extra,
    });
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`m${i}`, i]));
    const filled = await edit(lead.id, many);
    expect(Object.keys(filled.extra ?? {})).toHaveLength(32);
    expect(filled.extra).toMatchObject({ ...edited.extra, m0: 0, m27: 27 });
    expect(await edit(lead.id, { m39: 39 })).toEqual(filled);
    // A value that does not fit leaves all stored fields unchanged.
    expect(await edit(lead.id, { a: 'x'.repeat(8_100) })).toEqual(filled);
    expect(await edit(lead.id, { a: 2, m38: 38 })).toMatchObject({
      extra: { ...filled.extra, a: 2 },
      version: filled.version + 1,
    });
  });

  test('that changes nothing creates no version and no history entry', async () => {
    const lead = await create({ ...full, a: { y: 1, x: [1.5, 'é'] }, b: 1e300 });
    for (const body of [
      full,
      { name: full.name },
      { state: '' },
      { a: { y: 1, x: [1.5, 'é'] }, b: 1e300 },
      { b: 1e300, city: 'London' },
    ]) {
      expect(await edit(lead.id, body)).toEqual(lead);
      expect(await edit(lead.id, body, { 'If-Match': '"1"' })).toEqual(lead);
    }
    expect(await api.history(owner, lead.id)).toHaveLength(1);
  });

  test('of a read-only field is rejected with 400 and changes nothing', async () => {
    const lead = await create();
    const fixed = {
      id: unknownId(),
      createdAt: new Date(0).toISOString(),
      updatedAt: new Date(0).toISOString(),
      campaignId: workspace.defaultCampaignId,
      campaignCode: 'DEMO',
      userId: manager.userId,
      ip: '::1',
      version: 7,
      source: 'intake',
      phoneE164: '+12025550143',
      s1: 'x',
      lpName: 'x',
      duplicateOf: lead.id,
      extra: { a: 1 },
    };
    for (const [field, value] of Object.entries(fixed)) {
      await expectRefused(lead, { city: 'X', [field]: value }, [400, invalidInput]);
    }
  });

  test('is rejected with 400 if it is empty, has an invalid value, or has a reason but no status', async () => {
    const lead = await create();
    for (const body of [
      {},
      [],
      'x',
      null,
      { name: null },
      { city: 1 },
      { email: 'ada@example.com' },
      { email: null },
      { name: 'a\0b' },
      { city: '\ud800' },
      { extra1: '\0' },
      { status: 'Lost' },
      { status: null },
      { status: 'Approved', reason: '' },
      { status: 'Approved', reason: 'x'.repeat(1001) },
      { status: 'Approved', reason: null },
      { reason: 'why' },
      { city: 'X', reason: 'why' },
    ]) {
      await expectRefused(lead, JSON.stringify(body), [400, invalidInput], {
        'Content-Type': 'application/json',
      });
    }
  });

  test('by a publisher may change the fields of its own lead, but not the status', async () => {
    const lead = await create(full, publisher);
    expect(await edit(lead.id, { city: 'Paris' }, {}, publisher)).toMatchObject({
      city: 'Paris',
      version: 2,
    });
    for (const body of [{ status: 'Approved' }, { status: 'Approved', city: 'Rome' }]) {
      const answer = await api.edit(publisher, lead.id, body);
      expect([answer.status, answer.json()]).toEqual([403, forbidden]);
    }
    expect(await api.get(publisher, lead.id)).toMatchObject({ city: 'Paris', status: 'OnHold', version: 2 });
  });

  test('without If-Match loses no change of 30 concurrent edits', async () => {
    const lead = await create();
    const edits = Array.from({ length: 30 }, (_, i) => edit(lead.id, { [`field${i}`]: i }));
    await Promise.all(edits);
    const { extra, version } = await api.get(owner, lead.id);
    expect(Object.keys(extra ?? {})).toHaveLength(30);
    expect(version).toBe(31);
  });
});

describe('If-Match', () => {
  const stale = {
    success: false,
    error: 'validation',
    message: 'The version of the lead does not match If-Match',
  };
  const malformed = {
    success: false,
    error: 'validation',
    message: 'If-Match must be the ETag of a lead, or *',
  };

  test('with the current version, alone or in a list, or with * allows the edit', async () => {
    const lead = await create();
    let version = 1;
    for (const tag of [
      () => `"${version}"`,
      () => '*',
      () => ` "${version}" `,
      () => `"0", "${version}"`,
      () => `"x","${version}","99"`,
      () => `W/"${version}" , "${version}"`,
      () => `"a,b", "${version}"`,
      () => '\t*',
    ]) {
      const answer = await api.edit(owner, lead.id, { city: `C${version}` }, { 'If-Match': tag() });
      version += 1;
      expect(ok<{ lead: LeadDetail }>(answer).lead.version).toBe(version);
      expect(answer.headers.etag).toBe(`"${version}"`);
    }
    const two = await api.edit(
      owner,
      lead.id,
      { city: 'two' },
      { 'If-Match': ['"0"', `"${version}"`] as never },
    );
    expect(two.status).toBe(200);
  });

  test('with another version or a weak tag is rejected with 412, even if the edit changes nothing', async () => {
    const lead = await create();
    await edit(lead.id, { city: 'Paris' });
    const now = await api.get(owner, lead.id);
    for (const tag of [
      '"1"',
      '"3"',
      'W/"2"',
      '"1", "3"',
      '""',
      '"02"',
      '"2.0"',
      '"x2"',
      '"2x"',
      '" 2"'.replace(' ', '!'),
    ]) {
      for (const body of [{ city: 'Rome' }, { city: 'Paris' }, { status: 'Approved' }]) {
        await expectRefused(now, body, [412, stale], { 'If-Match': tag });
      }
    }
  });

  test('that is not a list of entity tags is rejected with 400', async () => {
    const lead = await create();
    for (const tag of [
      '1',
      'x',
      '"1',
      '1"',
      '"1" "2"',
      '"1",',
      ',"1"',
      '*, "1"',
      'w/"1"',
      '"a b"',
      '""1""',
      '',
    ]) {
      await expectRefused(lead, { city: 'Rome' }, [400, malformed], { 'If-Match': tag });
    }
    await expectRefused(lead, { city: 'Rome' }, [400, invalidInput], { 'If-Match': `"${'1'.repeat(1000)}"` });
  });

  test('with the same version lets 1 of 8 concurrent edits succeed', async () => {
    const lead = await create();
    for (let version = 1; version <= 10; version++) {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) =>
          api.edit(owner, lead.id, { city: `${version}.${i}` }, { 'If-Match': `"${version}"` }),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
        200,
        ...Array<number>(7).fill(412),
      ]);
      const winner = answers.find(({ status }) => status === 200);
      expect(await api.get(owner, lead.id)).toEqual(winner?.json<{ lead: LeadDetail }>().lead);
    }
  });
});

describe('the history', () => {
  test('records the user, the time, the fields, both statuses and the reason of each change', async () => {
    const lead = await create({ ...full, a: 1 });
    const first = await edit(lead.id, { city: 'Paris', country: '', state: 'Île', a: 2 }, {}, manager);
    const second = await edit(lead.id, { status: 'Trashed', reason: 'No such number', city: 'Rome' });
    ok(await api.changeStatuses(manager, [lead.id], 'OnHold', 'A mistake'));
    const third = await api.get(owner, lead.id);
    const fourth = await edit(lead.id, { status: 'Approved' });
    expect(await api.history(owner, lead.id)).toEqual([
      { version: 1, type: 'created', createdAt: lead.createdAt, userId: owner.userId, to: 'OnHold' },
      {
        version: 2,
        type: 'updated',
        createdAt: first.updatedAt,
        userId: manager.userId,
        fields: {
          city: { from: 'London', to: 'Paris' },
          country: { from: 'GB' },
          state: { to: 'Île' },
          extra: { from: { a: 1 }, to: { a: 2 } },
        },
      },
      {
        version: 3,
        type: 'status_changed',
        createdAt: second.updatedAt,
        userId: owner.userId,
        from: 'OnHold',
        to: 'Trashed',
        reason: 'No such number',
        fields: { city: { from: 'Paris', to: 'Rome' } },
      },
      {
        version: 4,
        type: 'status_changed',
        createdAt: third.updatedAt,
        userId: manager.userId,
        from: 'Trashed',
        to: 'OnHold',
        reason: 'A mistake',
      },
      {
        version: 5,
        type: 'status_changed',
        createdAt: fourth.updatedAt,
        userId: owner.userId,
        from: 'OnHold',
        to: 'Approved',
      },
    ]);
  });

  test('of a duplicate begins with the reason duplicate and the id of the first lead', async () => {
    const first = await create();
    const lead = workspace.lead(owner, { status: 'Trashed', duplicateOf: first.id });
    await fixture.leads.insert([lead]);
    ok(await api.edit(owner, lead.id, { status: 'OnHold' }));
    expect(await api.history(owner, lead.id)).toMatchObject([
      { version: 1, type: 'created', to: 'Trashed', reason: 'duplicate', duplicateOf: first.id },
      { version: 2, type: 'status_changed', from: 'Trashed', to: 'OnHold' },
    ]);
  });

  test('is returned in pages of 1,000 entries without a gap or a repeat', async () => {
    const lead = workspace.lead(owner);
    await fixture.leads.insert([lead]);
    await fixture.sql(
      `INSERT INTO lead_change (lead_id, version, user_id, fields, created_at)
       SELECT $1, version, $2, '{"city": {"to": "x"}}', now() FROM generate_series(2, 2500) AS version`,
      [lead.id, owner.userId],
    );
    await fixture.sql('UPDATE lead SET version = 2500 WHERE id = $1', [lead.id]);
    const pages: number[][] = [];
    for (let path = `/${lead.id}/history`; path !== ''; ) {
      const answer = await api.send(owner, 'GET', path);
      pages.push(ok<LeadHistoryEntry[]>(answer).map(({ version }) => version));
      path = nextPathOf(answer, lead.id);
    }
    expect(pages.map(({ length }) => length)).toEqual([1000, 1000, 500]);
    expect(pages.flat()).toEqual(Array.from({ length: 2500 }, (_, i) => i + 1));
    const after = async (version: string) =>
      ok<LeadHistoryEntry[]>(await api.send(owner, 'GET', `/${lead.id}/history?after=${version}`));
    expect(await after('2499')).toMatchObject([{ version: 2500 }]);
    expect(await after('999999999')).toEqual([]);
    expect((await after('0'))[0]).toMatchObject({ type: 'created' });
    for (const query of [
      'after=',
      'after=-1',
      'after=1.5',
      'after=x',
      'after=9999999999',
      'after=1&after=2',
      'limit=1',
    ]) {
      const answer = await api.send(owner, 'GET', `/${lead.id}/history?${query}`);
      expect([query, answer.status, answer.json()]).toEqual([query, 400, invalidInput]);
    }
  });

  test('is returned in pages of up to 2 MiB without a gap or a repeat', async () => {
    const lead = workspace.lead(owner);
    await fixture.leads.insert([lead]);
    await fixture.sql(
      `INSERT INTO lead_change (lead_id, version, user_id, fields, created_at)
       SELECT $1, version, $2, jsonb_build_object('address', jsonb_build_object('to', repeat('x', 60000))), now()
       FROM generate_series(2, 100) AS version`,
      [lead.id, owner.userId],
    );
    await fixture.sql('UPDATE lead SET version = 100 WHERE id = $1', [lead.id]);
    const versions: number[] = [];
    for (let path = `/${lead.id}/history`; path !== ''; ) {
      const answer = await api.send(owner, 'GET', path);
      expect(answer.text.length).toBeLessThan(2.2 * 1024 * 1024);
      versions.push(...ok<LeadHistoryEntry[]>(answer).map(({ version }) => version));
      path = nextPathOf(answer, lead.id);
    }
    expect(versions).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  });
});

/** Returns the path of the next page of a history from the lead's id on; an empty text for the last page. */
function nextPathOf({ headers }: Answer, id: string): string {
  const [, url] = /^<([^>]+)>; rel="next"$/.exec(String(headers['link'] ?? '')) ?? [];
  return url === undefined ? '' : url.slice(url.indexOf(`/${id}`));
}

function without<Fields extends object>(fields: Fields, ...names: (keyof Fields)[]): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => !names.includes(name as keyof Fields)),
  ) as Partial<Fields>;
}

describe('the work on a lead', () => {
  const callbackAt = '2026-01-31T09:30:00.000Z';
  const send = (member: typeof owner, method: string, path: string, body?: object) =>
    api.send(member, method, path, body === undefined ? {} : { body });

  test('assigns leads to owners and managers and sets call-backs, one by one and together, in the history and in exports', async () => {
    const [one, two] = [await create(), await create()];
    const edited = await edit(one.id, {
      assigneeId: manager.userId,
      callbackAt: '2026-01-31T10:30:00+01:00',
    });
    expect(edited).toMatchObject({ version: 2, assigneeId: manager.userId, callbackAt });
    const body = { ids: [one.id, unknownId(), two.id], assigneeId: manager.userId, callbackAt };
    expect((await send(owner, 'POST', '/assignment', body)).json()).toMatchObject({
      changed: 2,
      refused: 1,
      results: [{ version: 2 }, { error: 'error', message: 'Not found' }, { version: 2 }],
    });
    expect(await send(owner, 'POST', '/assignment', { ids: [two.id], callbackAt: '' })).toMatchObject({
      status: 200,
    });
    expect((await api.history(owner, two.id)).slice(1)).toMatchObject([
      { type: 'updated', fields: { assigneeId: { to: manager.userId }, callbackAt: { to: callbackAt } } },
      { type: 'updated', fields: { callbackAt: { from: callbackAt } } },
    ]);
    const idsOf = async (member: typeof owner, query: Record<string, string>) => {
      const { leads, totalCount } = await api.list(member, { ...query, count: 'exact' });
      expect(totalCount).toBe(leads.length);
      return leads.map(({ id }) => id);
    };
    expect(await idsOf(manager, { assignee: 'me' })).toEqual([two.id, one.id]);
    expect(await idsOf(owner, { assignee: manager.userId, callbackDue: 'true' })).toEqual([one.id]);
    await edit(one.id, { callbackAt: '2999-01-01T00:00:00Z' });
    expect(await idsOf(owner, { callbackDue: 'true' })).toEqual([]);
    expect(await idsOf(owner, { assignee: 'none' })).not.toContain(two.id);
    const csv = await api.send(manager, 'GET', '?assignee=me', { headers: { accept: 'text/csv' } });
    expect(csv.text.split('\r\n').map((line) => line.split(',').slice(-3))).toEqual([
      ['assigneeId', 'callbackAt', 'holdReason'],
      [manager.userId, '', ''],
      [manager.userId, '2999-01-01T00:00:00.000Z', ''],
      [''],
    ]);
    expect(await edit(one.id, { assigneeId: '', callbackAt: '' })).not.toHaveProperty('assigneeId');
  });

  test('refuses assignees without the role owner or manager, and times that do not exist, with 400', async () => {
    const lead = await create();
    for (const field of [
      { assigneeId: publisher.userId },
      { assigneeId: other.owner.userId },
      { assigneeId: 'me' },
      { callbackAt: '2026-12-31T23:59:60Z' },
      { callbackAt: 'tomorrow' },
    ]) {
      await expectRefused(lead, field, [400, invalidInput]);
      const together = await send(owner, 'POST', '/assignment', { ids: [lead.id], ...field });
      expect([field, together.status]).toEqual([field, 400]);
    }
    expect((await send(owner, 'GET', '?assignee=someone')).status).toBe(400);
  });

  test('finds leads by ids in upper case, as other databases write them', async () => {
    const [one, two] = [await create(), await create()];
    const spelled = one.id.toUpperCase();
    expect(await api.get(owner, spelled)).toEqual(await api.get(owner, one.id));
    expect((await api.edit(owner, spelled, { city: 'Porto' })).status).toBe(200);
    const ids = [spelled, two.id, one.id];
    const assigned = await send(owner, 'POST', '/assignment', { ids, assigneeId: manager.userId });
    expect(ok<{ results: object[] }>(assigned).results).toMatchObject([
      { id: spelled, success: true, version: 3 },
      { id: two.id, success: true, version: 2 },
      { id: one.id, success: false, message: 'The id is given twice' },
    ]);
    const { note } = ok<{ note: { id: string } }>(
      await send(manager, 'POST', `/${spelled}/notes`, { text: 'a' }),
    );
    const reply = await send(manager, 'POST', `/${one.id}/notes`, {
      text: 'b',
      parentId: note.id.toUpperCase(),
    });
    expect(ok<{ note: object }>(reply).note).toMatchObject({ parentId: note.id });
    const exported = await send(owner, 'POST', '/export', { ids: [spelled] });
    expect(exported.text).toContain(`\n${one.id},`);
    const campaign = await service.send({
      method: 'PATCH',
      path: `/api/v1/campaigns/${workspace.demoCampaignId.toUpperCase()}`,
      headers: { ...owner.headers },
      body: { name: 'Renamed' },
    });
    expect(campaign.status).toBe(200);
  });

  test('finds assignees by ids in upper case, and returns the ids in lower case', async () => {
    const { id } = await create();
    const spelled = manager.userId.toUpperCase();
    expect((await api.edit(owner, id, { assigneeId: spelled })).json()).toMatchObject({
      lead: { assigneeId: manager.userId, version: 2 },
    });
    const again = await send(owner, 'POST', '/assignment', { ids: [id], assigneeId: spelled });
    expect(ok<{ results: object[] }>(again).results).toMatchObject([{ success: true, version: 2 }]);
    const listed = (await api.list(owner, { assignee: spelled })).leads;
    expect(listed.map((lead) => lead.id)).toContain(id);
    const job = await service.send({
      method: 'POST',
      path: '/api/v1/jobs',
      headers: { ...owner.headers },
      body: { action: 'assign', assigneeId: spelled, filters: { s1: 'none' } },
    });
    expect(job.json()).toMatchObject({ job: { assigneeId: manager.userId } });
    const campaign = await service.send({
      method: 'PATCH',
      path: `/api/v1/campaigns/${await workspace.addCampaign('CASES')}`,
      headers: { ...owner.headers },
      body: { assigneeIds: [spelled, manager.userId, owner.userId] },
    });
    expect(campaign.json()).toMatchObject({ campaign: { assigneeIds: [manager.userId, owner.userId] } });
  });

  test('keeps notes in threads, pages and the history of the lead', async () => {
    const { id } = await create();
    const add = async (text: string, parentId?: string) =>
      ok<{ note: { id: string; parentId?: string }; version: number }>(
        await send(manager, 'POST', `/${id}/notes`, { text, ...(parentId !== undefined && { parentId }) }),
      );
    const first = await add('First');
    const reply = await add('Reply', first.note.id);
    const again = await add('Reply to the reply', reply.note.id);
    expect([first.version, reply.version, again.version]).toEqual([2, 3, 4]);
    expect([reply.note.parentId, again.note.parentId]).toEqual([first.note.id, first.note.id]);
    expect((await api.history(owner, id)).slice(1)).toMatchObject(
      [first, reply, again].map(({ note }) => ({
        type: 'note_added',
        noteId: note.id,
        userId: manager.userId,
      })),
    );
    const page = await send(owner, 'GET', `/${id}/notes?limit=2`);
    const rest = await service.send({
      path: /<([^>]+)>/.exec(String(page.headers['link']))?.[1]?.replace(/^https?:\/\/[^/]+/, '') ?? '',
      headers: { ...owner.headers },
    });
    const textsOf = (answer: typeof page) => answer.json<{ text: string }[]>().map(({ text }) => text);
    expect([textsOf(page), textsOf(rest)]).toEqual([['Reply to the reply', 'Reply'], ['First']]);

    const { id: otherId } = await create();
    for (const body of [{ text: ' ' }, { text: 'x'.repeat(4001) }, { text: 'a\0' }, {}]) {
      expect([body, (await send(owner, 'POST', `/${id}/notes`, body)).status]).toEqual([body, 400]);
    }
    for (const parentId of [first.note.id, unknownId(), 'x']) {
      expect((await send(owner, 'POST', `/${otherId}/notes`, { text: 'a', parentId })).status).toBe(400);
    }
    expect((await send(other.owner, 'GET', `/${id}/notes`)).status).toBe(404);
  });

  test('shows a publisher no notes, assignees and call-backs of its leads', async () => {
    const lead = await create(full, publisher);
    await edit(lead.id, { assigneeId: owner.userId, callbackAt });
    await edit(lead.id, { callbackAt: '', city: 'Leeds' });
    ok(await send(owner, 'POST', `/${lead.id}/notes`, { text: 'Secret' }));
    expect(await api.get(publisher, lead.id)).not.toHaveProperty('assigneeId');
    expect((await api.history(publisher, lead.id)).map(({ version, fields }) => [version, fields])).toEqual([
      [1, undefined],
      [3, { city: { from: 'London', to: 'Leeds' } }],
    ]);
    for (const accept of ['text/csv', 'application/x-ndjson']) {
      const answer = await api.send(publisher, 'GET', '', { headers: { accept } });
      expect(answer.text).toContain(lead.id);
      expect(answer.text).not.toMatch(/assignee|callback/);
      expect(answer.text).not.toContain(owner.userId);
    }
    for (const [method, path, body] of [
      ['PATCH', `/${lead.id}`, { assigneeId: publisher.userId }],
      ['PATCH', `/${lead.id}`, { callbackAt }],
      ['GET', `/${lead.id}/notes`],
      ['GET', '?callbackDue=true'],
    ] as const) {
      expect((await send(publisher, method, path, body)).json()).toEqual(forbidden);
    }
    const ownEdit = ok<{ lead: LeadDetail }>(await api.edit(publisher, lead.id, { city: 'York' })).lead;
    expect(ownEdit).not.toHaveProperty('assigneeId');
  });

  test('assigns new leads of a campaign to its members in turn, until a member leaves the workspace', async () => {
    const leaver = await workspace.addMember('manager');
    const assigneeIds = [leaver.userId, manager.userId];
    const change = (body: object) =>
      service.send({
        method: 'PATCH',
        path: `/api/v1/campaigns/${workspace.demoCampaignId}`,
        headers: { ...owner.headers },
        body,
      });
    expect((await change({ assigneeIds: [publisher.userId] })).status).toBe(400);
    expect((await change({ assigneeIds })).json()).toMatchObject({ campaign: { assigneeIds } });
    const campaigns = await service.send({ path: '/api/v1/campaigns', headers: { ...publisher.headers } });
    expect(campaigns.text).not.toContain('assigneeIds');

    const leads = [await create(), await create(), await create()];
    expect(leads.map(({ assigneeId }) => assigneeId)).toEqual([...assigneeIds, leaver.userId]);
    expect(leads[0]?.version).toBe(1);
    await fixture.sql('DELETE FROM member WHERE user_id = $1', [leaver.userId]);
    await expect.poll(async () => (await api.get(owner, leads[2]?.id ?? '')).version).toBe(2);
    expect((await api.history(owner, leads[2]?.id ?? '')).at(-1)).toMatchObject({
      reason: 'assignee_removed',
      fields: { assigneeId: { from: leaver.userId } },
    });
    expect((await create()).assigneeId).toBe(manager.userId);
    // The list with the leaver can still be changed.
    const longer = [...assigneeIds, owner.userId];
    expect((await change({ assigneeIds: longer })).json()).toMatchObject({
      campaign: { assigneeIds: longer },
    });
    expect((await change({ assigneeIds: [...longer, publisher.userId] })).status).toBe(400);
    await change({ assigneeIds: [] });
    expect(await create()).not.toHaveProperty('assigneeId');
  });
});
