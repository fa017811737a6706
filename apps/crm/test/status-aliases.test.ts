import type { TestMember } from '@leads/test-kit/fixture';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { leadsApi, type Outcome, ok, problem } from './leads-api.ts';
import { createStatusTeam } from './status-team.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const api = leadsApi(service);
const { workspace, owner, manager, publisher, other, leadsOf } = await createStatusTeam(fixture);

describe('status aliases', () => {
  const fakes = [
    { alias: 'confirmed', status: 'Approved' },
    { alias: 'fake lead', status: 'Trashed', reason: 'fake' },
  ];
  const replace = (member: TestMember, aliases: unknown) =>
    service.send({
      method: 'PUT',
      path: '/api/v1/status-aliases',
      headers: { ...member.headers, ...problem },
      body: { aliases },
    });
  const list = async (member: TestMember) =>
    ok<{ aliases: unknown }>(
      await service.send({ path: '/api/v1/status-aliases', headers: { ...member.headers } }),
    ).aliases;
  test('name a status in edits and in bulk changes, in any case, with the reason of the alias', async () => {
    const answer = await replace(manager, [
      { alias: ' Confirmed ', status: 'Approved' },
      { alias: 'FAKE  lead', status: 'Trashed', reason: 'fake' },
      { alias: 'APPROVED', status: 'Approved' },
    ]);
    const folded = [
      { alias: 'approved', status: 'Approved' },
      { alias: 'confirmed', status: 'Approved' },
      { alias: 'fake lead', status: 'Trashed', reason: 'fake' },
    ];
    expect(ok<object>(answer)).toEqual({ success: true, aliases: folded });
    expect(await list(owner)).toEqual(folded);

    const [edited = '', ...others] = await leadsOf('OnHold', 3);
    expect((await api.edit(owner, edited, { status: 'cOnFirmed' })).status).toBe(200);
    expect((await api.get(owner, edited)).status).toBe('Approved');
    expect((await api.edit(owner, edited, { status: 'fake lead', reason: 'no answer' })).status).toBe(200);
    expect((await api.history(owner, edited)).at(-1)).toMatchObject({ to: 'Trashed', reason: 'no answer' });

    const { changed, results } = ok<{ changed: number; results: Outcome[] }>(
      await api.changeStatuses(owner, others, ' Fake Lead'),
    );
    expect([changed, results[0]?.status]).toEqual([2, 'Trashed']);
    expect((await api.history(owner, others[1] ?? '')).at(-1)).toMatchObject({
      to: 'Trashed',
      reason: 'fake',
    });
  });

  test('that are unknown are 400, and the error names the known ones', async () => {
    const reason =
      'must be OnHold, Trashed, Paid, Approved, or one of the aliases approved, confirmed, fake lead';
    const expected = { status: 400, errors: [{ pointer: '#/status', detail: reason }] };
    const [id = ''] = await leadsOf('OnHold');
    const edit = await api.edit(owner, id, { status: 'gone' }, problem);
    expect(edit.json<object>()).toMatchObject(expected);
    const bulk = await api.send(owner, 'POST', '/status', {
      body: { ids: [id], status: 'gone' },
      headers: problem,
    });
    expect(bulk.json<object>()).toMatchObject(expected);
    expect((await api.get(owner, id)).status).toBe('OnHold');
  });

  test('of a workspace are unknown to other workspaces and to publishers', async () => {
    const without = { errors: [{ detail: 'must be OnHold, Trashed, Paid, Approved' }] };
    const [own = ''] = await leadsOf('OnHold', 1, publisher);
    const edit = await api.edit(publisher, own, { status: 'confirmed' }, problem);
    expect(edit.json<object>()).toMatchObject({ status: 400, ...without });
    const foreign = await api.edit(other.owner, own, { status: 'confirmed' }, problem);
    expect(foreign.json<object>()).toMatchObject({ status: 400, ...without });
    expect(await list(other.owner)).toEqual([]);
    expect(ok<object>(await replace(other.owner, []))).toEqual({ success: true, aliases: [] });
    expect(await list(owner)).not.toEqual([]);
  });

  test('are found in each spelling of a word that has the same upper case', async () => {
    ok(await replace(owner, [{ alias: 'Außer Haus', status: 'Approved' }, ...fakes]));
    expect(await list(owner)).toContainEqual({ alias: 'außer haus', status: 'Approved' });
    for (const status of ['AUSSER HAUS', 'ausser haus', 'Außer  Haus', 'AUẞER HAUS']) {
      const [id = ''] = await leadsOf('OnHold');
      expect([status, (await api.edit(owner, id, { status })).status]).toEqual([status, 200]);
    }
    const twice = await replace(owner, [
      ...fakes,
      { alias: 'Fuß', status: 'Paid' },
      { alias: 'FUSS', status: 'Paid' },
    ]);
    expect(twice.json<object>()).toMatchObject({
      errors: [{ pointer: '#/aliases/3/alias', detail: 'is in the list twice' }],
    });
  });

  test('are unknown to a key without the scope leads:status', async () => {
    const [id = ''] = await leadsOf('OnHold');
    const writer = await workspace.addMember('owner', { scope: ['leads:write'] });
    for (const status of ['gone', 'confirmed']) {
      const edit = await api.edit(writer, id, { status }, problem);
      expect(edit.json<object>()).toMatchObject({
        status: 400,
        errors: [{ detail: 'must be OnHold, Trashed, Paid, Approved' }],
      });
    }
  });

  test('that occur twice, name another status, are too long or have no visible character are 400, and change nothing; valid ones replace all', async () => {
    const before = await list(owner);
    const refusals = [
      [
        [
          { alias: 'a', status: 'Paid' },
          { alias: ' A', status: 'OnHold' },
        ],
        '#/aliases/1/alias',
        'is in the list twice',
      ],
      [[{ alias: 'paid', status: 'Trashed' }], '#/aliases/0/alias', 'is the name of the status Paid'],
      [[{ alias: ' ', status: 'Paid' }], '#/aliases/0/alias', 'must contain a character other than a space'],
      [[{ alias: 'a\n', status: 'Paid' }], '#/aliases/0/alias', 'no control characters'],
      // Each character is stored as 18 others (NFKC).
      [[{ alias: '\ufdfa'.repeat(15), status: 'Paid' }], '#/aliases/0/alias', 'at most 256 characters'],
      [[{ alias: 'a', status: 'Gone' }], '#/aliases/0/status', 'must be'],
      [
        Array.from({ length: 201 }, (_, i) => ({ alias: `a${i}`, status: 'Paid' })),
        '#/aliases',
        'at most 200',
      ],
    ] as const;
    for (const [aliases, pointer, detail] of refusals) {
      const answer = (await replace(owner, aliases)).json<{ status: number; errors?: object[] }>();
      expect(answer).toMatchObject({
        status: 400,
        errors: [{ pointer, detail: expect.stringContaining(detail) as string }],
      });
    }
    expect(await list(owner)).toEqual(before);
    ok(await replace(owner, [{ alias: 'sold', status: 'Paid' }]));
    expect(await list(owner)).toEqual([{ alias: 'sold', status: 'Paid' }]);
  });
});
