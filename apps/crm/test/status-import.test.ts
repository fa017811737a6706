import type { StoredLead } from '@leads/core/lead';
import type { TestMember } from '@leads/test-kit/fixture';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { leadsApi, ok, problem } from './leads-api.ts';
import { createStatusTeam } from './status-team.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const api = leadsApi(service);
const { owner, manager, leadsOf, stored } = await createStatusTeam(fixture);

describe('an import of statuses', () => {
  interface Report {
    readonly changed: number;
    readonly unchanged: number;
    readonly repeated: number;
    readonly rejected: number;
    readonly ignoredColumns: string[];
    readonly rejections: { line: number; field?: string; reason: string }[];
  }
  const send = (member: TestMember, lines: readonly string[], key?: string) =>
    service.send({
      method: 'POST',
      path: '/api/v1/order/leads/status/import',
      headers: {
        ...member.headers,
        ...problem,
        'Content-Type': 'text/csv',
        ...(key !== undefined && { 'Idempotency-Key': key }),
      },
      body: lines.join('\r\n'),
    });
  const importLines = async (member: TestMember, lines: readonly string[], key?: string) =>
    ok<Report>(await send(member, lines, key));
  const counts = ({ changed, unchanged, repeated, rejected }: Report) => [
    changed,
    unchanged,
    repeated,
    rejected,
  ];

  test('changes leads by id, or by sub-id, phone and campaign, and reports each line', async () => {
    const each = await fixture.createWorkspace();
    const campaignId = await each.addCampaign('SPRING');
    const [byId, byS1, byPhone, twin, other1] = [
      each.lead(each.owner),
      each.lead(each.owner, { s1: 'click-1' }),
      each.lead(each.owner, { phone: '+1 202 555 0199', phoneE164: '+12025550199' }),
      each.lead(each.owner, { s1: 'click-2' }),
      each.lead(each.owner, { s1: 'click-2', campaignId }),
    ];
    await fixture.leads.insert([byId, byS1, byPhone, twin, other1]);
    const [theirs = ''] = await leadsOf('OnHold');
    const report = await importLines(each.owner, [
      'Id,S1,Phone,Campaign Code,Status,Reason,Operator',
      `${byId.id.toUpperCase()},,,,Approved,,ann`,
      `${byId.id},,,,Paid,,ann`,
      ',click-1,,,Trashed,no answer,ann',
      ',,(202) 555-0199,,approved,,ann',
      ',,+12025550199,,Approved,,ann',
      ',click-2,,SPRING,Approved,,bob',
      ',click-2,,,Approved,,bob',
      ',click-9,,,Approved,,bob',
      `${theirs},,,,Approved,,bob`,
      ',,,,Approved,,bob',
      `${twin.id},,,,Paid,,bob`,
      `${twin.id},,,,Trashed,,bob`,
      `${byPhone.id},,,,Approved,,`,
      ',,none,,Approved,,',
      'too,short',
      ',,,SPRING,Approved,,bob',
    ]);
    expect(report.rejections).toEqual([
      { line: 5, field: 'status', reason: 'status must be OnHold, Trashed, Paid, Approved' },
      {
        line: 8,
        reason: 'Several leads have these values: add the id, or more of s1, phone and campaignCode',
      },
      { line: 9, reason: 'No lead has these values' },
      { line: 10, field: 'id', reason: 'No lead has this id' },
      { line: 11, reason: 'The line has no id, no s1 and no phone' },
      { line: 12, field: 'status', reason: 'A lead cannot go from OnHold to Paid' },
      { line: 13, field: 'reason', reason: 'This change needs a reason' },
      { line: 15, reason: 'phone must contain a digit' },
      { line: 16, reason: 'The line has 2 cells, but the header has 7' },
      { line: 17, reason: 'The line has no id, no s1 and no phone' },
    ]);
    expect(counts(report)).toEqual([5, 1, 0, 10]);
    expect(report.ignoredColumns).toEqual(['Operator']);
    const leads = await stored([byId, byS1, byPhone, twin, other1].map(({ id }) => id));
    expect([byId, byS1, byPhone, twin, other1].map(({ id }) => leads.get(id)?.status)).toEqual([
      'Paid',
      'Trashed',
      'Approved',
      'OnHold',
      'Approved',
    ]);
    expect((await api.history(each.owner, byS1.id)).at(-1)).toMatchObject({
      to: 'Trashed',
      reason: 'no answer',
      userId: each.owner.userId,
    });
    expect((await stored([theirs])).get(theirs)?.status).toBe('OnHold');
  });

  test('uses the aliases of the workspace and their reasons', async () => {
    const each = await fixture.createWorkspace();
    const lead = each.lead(each.owner, { s1: 'a' });
    await fixture.leads.insert([lead]);
    const aliases = [{ alias: 'fake', status: 'Trashed', reason: 'not a person' }];
    await service.send({
      method: 'PUT',
      path: '/api/v1/status-aliases',
      headers: { ...each.owner.headers },
      body: { aliases },
    });
    const report = await importLines(each.owner, ['s1,status', 'a,FAKE', 'a,sold']);
    expect(counts(report)).toEqual([1, 0, 0, 1]);
    expect(report.rejections[0]?.reason).toMatch(/or one of the aliases fake$/);
    expect((await api.history(each.owner, lead.id)).at(-1)).toMatchObject({ reason: 'not a person' });
  });

  test('with an Idempotency-Key changes each lead once, also if the lead was changed back meanwhile', async () => {
    const ids = await leadsOf('OnHold', 1_200);
    const lines = ['id,status', ...ids.map((id) => `${id},Approved`)];
    // The first run ends after some batches.
    expect(counts(await importLines(manager, lines.slice(0, 601), 'file-1'))).toEqual([600, 0, 0, 0]);
    expect((await api.edit(owner, ids[0] ?? '', { status: 'OnHold' })).status).toBe(200);
    const runs = await Promise.all([
      importLines(manager, lines, 'file-1'),
      importLines(manager, lines, 'file-1'),
    ]);
    const leads = await stored(ids);
    expect([...leads.values()].filter(({ changes }) => changes !== 1)).toHaveLength(1);
    expect(leads.get(ids[0] ?? '')).toMatchObject({ status: 'OnHold', changes: 2 });
    expect(runs.reduce((sum, { changed }) => sum + changed, 0)).toBe(600);
    expect(counts(await importLines(manager, lines, 'file-1'))).toEqual([0, 0, 1_200, 0]);

    const other1 = await importLines(manager, ['id,status,reason', `${ids[0]},Trashed,x`], 'file-1');
    expect(other1.rejections).toEqual([
      { line: 2, reason: 'The Idempotency-Key was already used in this line for another lead or status' },
    ]);
    // Another user and no key are other imports.
    expect(counts(await importLines(owner, lines.slice(0, 2), 'file-1'))).toEqual([1, 0, 0, 0]);
    expect(counts(await importLines(manager, lines.slice(0, 2)))).toEqual([0, 1, 0, 0]);
  });

  test('with an Idempotency-Key repeats lines whose values now name no lead, or several', async () => {
    const each = await fixture.createWorkspace();
    const [moved, shared] = ['+1 202 555 0111', '+1 202 555 0112'].map((phone) =>
      each.lead(each.owner, { phone, phoneE164: phone.replaceAll(' ', '') }),
    ) as [StoredLead, StoredLead];
    await fixture.leads.insert([moved, shared]);
    const lines = ['phone,status', `${moved.phone},Approved`, `${shared.phone},Approved`];
    expect(counts(await importLines(each.owner, lines, 'file-2'))).toEqual([2, 0, 0, 0]);
    expect((await api.edit(each.owner, moved.id, { phone: '+1 202 555 0113' })).status).toBe(200);
    await fixture.leads.insert([each.lead(each.owner, { phone: shared.phone, phoneE164: shared.phoneE164 })]);
    expect(counts(await importLines(each.owner, lines, 'file-2'))).toEqual([0, 0, 2, 0]);
    // The line names another lead now.
    await fixture.leads.insert([each.lead(each.owner, { phone: moved.phone, phoneE164: moved.phoneE164 })]);
    expect(counts(await importLines(each.owner, lines, 'file-2'))).toEqual([0, 0, 1, 1]);
  });

  test('finds a sub-id with and without the spaces around it', async () => {
    const each = await fixture.createWorkspace();
    await fixture.leads.insert([' spaced ', 'plain'].map((s1) => each.lead(each.owner, { s1 })));
    const report = await importLines(each.owner, [
      's1,status',
      ' spaced ,Approved',
      'spaced,Approved',
      ' plain ,Approved',
    ]);
    expect(counts(report)).toEqual([2, 0, 0, 1]);
    expect(report.rejections).toEqual([{ line: 3, reason: 'No lead has these values' }]);
  });

  test('stores the changes of long lines in batches of 1 MiB, also if the long cells are of a skipped column', async () => {
    const ids = await leadsOf('OnHold', 40);
    const notes = 'x'.repeat(60_000);
    const report = await importLines(owner, [
      'id,status,notes',
      ...ids.map((id) => `${id},Approved,${notes}`),
    ]);
    expect(counts(report)).toEqual([40, 0, 0, 0]);
    const batches = await fixture.sql<{ changes: number }>(
      `SELECT count(*)::int AS changes FROM lead_change WHERE lead_id = ANY($1)
       GROUP BY xmin ORDER BY changes DESC`,
      [ids],
    );
    expect(batches.map(({ changes }) => changes)).toEqual([18, 18, 4]);
  });

  test('with an invalid header, a compressed body or another media type is refused', async () => {
    for (const [file, detail] of [
      [[''], 'The file is empty'],
      [['id'], 'The header has no column status'],
      [['status,campaignCode'], 'The header has none of the columns id, s1 and phone'],
      [['id,ID,status'], 'The header has id twice'],
      [['"id,status'], 'The header has a quote that is never closed'],
    ] as const) {
      expect((await send(owner, file)).json<object>()).toMatchObject({ status: 400, detail });
    }
    const answer = await service.send({
      method: 'POST',
      path: '/api/v1/order/leads/status/import',
      headers: { ...owner.headers, 'Content-Type': 'text/csv', 'Content-Encoding': 'gzip' },
      body: 'id,status',
    });
    expect(answer.status).toBe(415);
  });
});
