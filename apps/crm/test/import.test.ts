import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { earlierId } from '@leads/core/lead';
import type { TestMember } from '@leads/test-kit/fixture';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm, startCrmService } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const path = '/api/v1/order/leads/import';

interface Report {
  readonly success: true;
  readonly accepted: number;
  readonly duplicates: number;
  readonly repeated: number;
  readonly rejected: number;
  readonly extraLeftOut: number;
  readonly ignoredColumns: string[];
  readonly rejections: { line: number; field?: string; reason: string }[];
  readonly truncated: boolean;
}

interface Options {
  readonly query?: string;
  readonly key?: string;
  readonly headers?: Record<string, string>;
}

/** Sends a file and returns the response, which may be an error. */
const send = (member: TestMember, file: string | Buffer, { query = '', key, headers = {} }: Options = {}) =>
  service.send({
    method: 'POST',
    path: path + query,
    headers: {
      ...member.headers,
      'Content-Type': 'text/csv',
      ...(key !== undefined && { 'Idempotency-Key': key }),
      ...headers,
    },
    body: file,
  });

/** Sends a file that must be accepted, and returns the report. */
async function importFile(member: TestMember, file: string | Buffer, options?: Options): Promise<Report> {
  const answer = await send(member, file, options);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.json<Report>();
}

/** Sends a file that must be rejected, and returns the status and the problem details. */
async function rejectionOf(member: TestMember, file: string, options: Options = {}) {
  const headers = { ...options.headers, Accept: 'application/problem+json' };
  const answer = await send(member, file, { ...options, headers });
  return [answer.status, answer.json<{ detail?: string; errors?: unknown }>()] as const;
}

const report = (counts: Partial<Report>): Report => ({
  success: true,
  accepted: 0,
  duplicates: 0,
  repeated: 0,
  rejected: 0,
  extraLeftOut: 0,
  ignoredColumns: [],
  rejections: [],
  truncated: false,
  ...counts,
});

const leadsOf = (workspaceId: string) =>
  fixture.sql<Record<string, unknown>>(
    `SELECT lead.*, campaign.code FROM lead JOIN campaign ON campaign.id = campaign_id
     WHERE lead.workspace_id = $1 ORDER BY lead.name, lead.id`,
    [workspaceId],
  );
const names = async (workspaceId: string) => (await leadsOf(workspaceId)).map(({ name }) => name);

const header = 'campaignCode,name,phone';
const rows = (from: number, to: number) =>
  Array.from(
    { length: to - from + 1 },
    (_, i) => `DEMO,Lead ${String(from + i).padStart(6, '0')},+1 202 555 0143\n`,
  );

describe('columns', () => {
  test('are matched by name in any spelling, and unknown ones are stored in extra', async () => {
    const { id, owner } = await fixture.createWorkspace();
    const file = [
      'Campaign Code,NAME,phone ,E-Mail,zip_code,Utm Source,address,extra',
      'DEMO,Ada,+44 20 7946 0958,ada@example.io,SW1Y 4JH,newsletter,"12, St James Square","{""a"":{""b"":[1,null,12345678901234567890]},""Utm Source"":0}"',
    ].join('\r\n');
    expect(await importFile(owner, file)).toEqual(report({ accepted: 1 }));
    const [lead] = await leadsOf(id);
    expect(lead).toMatchObject({
      code: 'DEMO',
      user_id: owner.userId,
      source: 'crm',
      status: 'OnHold',
      version: 1,
      name: 'Ada',
      phone: '+44 20 7946 0958',
      phone_e164: '+442079460958',
      email: 'ada@example.io',
      zipcode: 'SW1Y 4JH',
      address: '12, St James Square',
      country: null,
      content_hash: null,
      extra: { 'Utm Source': 0, a: { b: [1, null, '12345678901234567890'] } },
    });
  });

  test('whose values the service sets itself are ignored and reported', async () => {
    const { id, owner } = await fixture.createWorkspace();
    const file =
      'id,createdAt,status,version,userId,campaignId,updatedAt,ip,source,phoneE164,duplicateOf,state,s1,lpName,campaignCode,name,phone\n' +
      `${randomUUID()},2020-01-01T00:00:00Z,Paid,7,x,y,z,::1,intake,+1,w,VA,click,page,DEMO,Ada,+44\n`;
    const ignored =
      'id createdAt status version userId campaignId updatedAt ip source phoneE164 duplicateOf'.split(' ');
    expect(await importFile(owner, file)).toEqual(report({ accepted: 1, ignoredColumns: ignored }));
    const [lead] = await leadsOf(id);
    expect(lead).toMatchObject({
      status: 'OnHold',
      version: 1,
      source: 'crm',
      ip: null,
      state: null,
      s1: null,
      lp_name: null,
      extra: { state: 'VA', s1: 'click', lpName: 'page' },
    });
    expect(Date.parse(String(lead?.['created_at']))).toBeGreaterThan(Date.now() - 60_000);
  });

  test('may omit campaignCode or leave it empty if the query has it', async () => {
    const workspace = await fixture.createWorkspace();
    const { id, owner } = workspace;
    await workspace.addCampaign('OTHER');
    const query = '?campaignCode=OTHER';
    expect(await importFile(owner, 'name,phone\nA,1\n', { query })).toEqual(report({ accepted: 1 }));
    const both = 'campaign-code,name,phone\nDEMO,B,1\n,C,1\n';
    expect(await importFile(owner, both, { query })).toEqual(report({ accepted: 2 }));
    expect((await leadsOf(id)).map(({ name, code }) => [name, code])).toEqual([
      ['A', 'OTHER'],
      ['B', 'DEMO'],
      ['C', 'OTHER'],
    ]);
    expect(await importFile(owner, both)).toMatchObject({
      accepted: 1,
      rejections: [{ line: 3, field: 'campaignCode', reason: 'campaignCode is required' }],
    });
  });

  test('that the parameter ignore names are skipped and reported', async () => {
    const { id, owner } = await fixture.createWorkspace();
    const file =
      "campaignCode,name,phone,Internal notes,Name,id,score,score,'-x,country\n" +
      `DEMO,Ada,+44,"${'x'.repeat(2000)}",Grace,7,1,2,3,GB\n`;
    const leftOut = ['Internal notes', 'Name', 'id', 'score', '-x', 'country'];
    const query = `?${leftOut.map((name) => `ignore=${encodeURIComponent(name)}`).join('&')}`;
    expect(await importFile(owner, file, { query })).toEqual(
      report({
        accepted: 1,
        ignoredColumns: ['Internal notes', 'Name', 'id', 'score', 'score', '-x', 'country'],
      }),
    );
    const [lead] = await leadsOf(id);
    expect(lead).toMatchObject({ name: 'Ada', country: null, extra: null });

    // A single ignored column is reported, and the other unknown column is stored.
    const one = `${header},a,b\nDEMO,B,1,2,3\n`;
    expect(await importFile(owner, one, { query: '?ignore=a' })).toEqual(
      report({ accepted: 1, ignoredColumns: ['a'] }),
    );
    expect((await leadsOf(id)).at(-1)).toMatchObject({ name: 'B', extra: { b: '3' } });
  });

  test('that the parameter ignore names but the header lacks are rejected with 400, and nothing is stored', async () => {
    const { id, owner } = await fixture.createWorkspace();
    const file = `${header},Score\nDEMO,A,1,2\n`;
    const reason = (value: number) =>
      `must name columns as the header of the file spells them: value ${value} is not in the header`;
    // ignore must have the exact spelling of the header, although columns match in any spelling.
    for (const [query, errors] of [
      ['?ignore=score', [{ parameter: 'ignore', detail: reason(1) }]],
      ['?ignore=Score&ignore=x&ignore=y', [2, 3].map((at) => ({ parameter: 'ignore', detail: reason(at) }))],
      ['?ignore=', [{ parameter: 'ignore', detail: 'must not be empty' }]],
      ['?ignore=Score&ignore=Score', [{ parameter: 'ignore', detail: 'must not contain duplicates' }]],
    ] as const) {
      const [status, problem] = await rejectionOf(owner, file, { query });
      expect([query, status, problem.errors]).toEqual([query, 400, errors]);
    }
    const [status, problem] = await rejectionOf(owner, file, { query: '?ignore=phone' });
    expect([status, problem.detail]).toEqual([400, 'The header has no column phone']);
    expect(await leadsOf(id)).toEqual([]);
  });

  test('that are missing or repeated are rejected with 400, and the message names all of them', async () => {
    const { id, owner } = await fixture.createWorkspace();
    for (const [file, detail] of [
      ['', 'The file is empty'],
      ['\ufeff', 'The file is empty'],
      ['\n\n', 'The file is empty'],
      ['x\nDEMO\n', 'The header has no column name; The header has no column phone'],
      [`${header},Name\n`, 'The header has name twice'],
      [`${header},extra,Extra\n`, 'The header has extra twice'],
      [`${header},x, x\n`, 'The header has a name twice'],
      [`"${header}`, 'The header has a quote that is never closed'],
    ] as const) {
      const [status, problem] = await rejectionOf(owner, file);
      expect([status, problem.detail]).toEqual([400, detail]);
    }
    const [, { errors }] = await rejectionOf(owner, 'name,phone\n');
    expect(errors).toEqual([
      { parameter: 'campaignCode', detail: 'is required if the header has no column campaignCode' },
    ]);
    const query = { query: '?campaigncode=DEMO' };
    expect(await rejectionOf(owner, 'name,phone\n', query)).toMatchObject([
      400,
      { errors: [{ parameter: 'campaigncode' }] },
    ]);
    expect(await importFile(owner, header)).toEqual(report({}));
    expect(await leadsOf(id)).toEqual([]);
  });

  test('without a name must be empty', async () => {
    const { owner } = await fixture.createWorkspace();
    expect(await importFile(owner, `${header},,\nDEMO,A,1,,\nDEMO,B,1,,x\n`)).toEqual(
      report({
        accepted: 1,
        rejected: 1,
        rejections: [
          { line: 3, reason: 'The line has a value in column 5, which has no name in the header' },
        ],
      }),
    );
  });
});

describe('lines', () => {
  test('are validated like single creates, and an invalid line does not affect others', async () => {
    const workspace = await fixture.createWorkspace();
    const { id, owner } = workspace;
    await workspace.addCampaign('PAUSED', 'paused');
    await workspace.addCampaign('GONE', 'archived');
    const other = await fixture.createWorkspace();
    await other.addCampaign('THEIRS');
    const unknown = 'campaignCode must be the code of an active campaign';
    const lines: [line: string | Buffer, reason?: string, field?: string][] = [
      ['DEMO,good 1,1,,'],
      ['DEMO,,1,,', 'name is required', 'name'],
      ['DEMO,x,,,', 'phone is required', 'phone'],
      ['DEMO,,,a@b.com,', 'name is required; phone is required; email must end in .io', 'name'],
      ['DEMO,x,1,a@b,', 'email', 'email'],
      ['NONE,x,1,,', unknown, 'campaignCode'],
      ['PAUSED,x,1,,', unknown, 'campaignCode'],
      ['GONE,x,1,,', unknown, 'campaignCode'],
      ['THEIRS,x,1,,', unknown, 'campaignCode'],
      [',,,,'],
      [''],
      ['DEMO,"good\n2",1,,'],
      ['DEMO', 'The line has 1 cell, but the header has 5'],
      ['DEMO,x,1,', 'The line has 4 cells, but the header has 5'],
      ['DEMO,x,1,,,', 'The line has 6 cells, but the header has 5'],
      ['DEMO,"x,1,,', 'The line has text between a closing quote'],
      ['DEMO,"good ""3""",1,,'],
      [Buffer.from('DEMO,\xff,1,,', 'latin1'), 'The line is not UTF-8'],
      ['DEMO,\0,1,,', 'The line contains a NUL character, which cannot be stored'],
      [`DEMO,${'x'.repeat(70_000)},1,,`, 'The line has a cell of more than 64 KiB'],
      ['DEMO,x,1,,[1]', 'extra must be a JSON object', 'extra'],
      ['DEMO,x,1,,{a:1}', 'extra must be a JSON object', 'extra'],
      ['DEMO,x,1,,"{""a"":""\\u0000""}"', 'extra contains characters that cannot be stored', 'extra'],
      ['DEMO,x,1,,"{""\\ud800"":1}"', 'extra contains characters that cannot be stored', 'extra'],
      ['DEMO,good 4,1,,"{""a"":""\\\\u0000 \\ud83d\\ude00""}"'],
      ['DEMO,good 5,1,,{}'],
    ];
    let line = 1;
    const expected: object[] = [];
    const containing = (text: string): unknown => expect.stringContaining(text);
    const parts = [Buffer.from('campaignCode,name,phone,email,extra\n')];
    for (const [text, reason, field] of lines) {
      line += 1;
      if (reason !== undefined) {
        expected.push({
          line,
          ...(field !== undefined && { field }),
          reason: containing(reason),
        });
      }
      line += text.toString().split('\n').length - 1;
      parts.push(Buffer.from(text), Buffer.from('\n'));
    }
    const answer = await importFile(owner, Buffer.concat(parts));
    expect(answer).toEqual({ ...report({ accepted: 5, rejected: expected.length }), rejections: expected });
    expect(await names(id)).toEqual(['good 1', 'good "3"', 'good 4', 'good 5', 'good\n2'].toSorted());
    expect(await leadsOf(other.id)).toEqual([]);
    // No reason contains a submitted value.
    expect(JSON.stringify(answer.rejections)).not.toContain('THEIRS');
  });

  test('that are rejected are all counted, and the first 1,000 are listed', async () => {
    const { owner } = await fixture.createWorkspace();
    const file = `${header}\n${'DEMO,,\n'.repeat(1000)}`;
    expect(await importFile(owner, file)).toMatchObject({ rejected: 1000, truncated: false });
    const answer = await importFile(owner, `${file}DEMO,,\nDEMO,A,1\n`);
    expect(answer).toMatchObject({ accepted: 1, rejected: 1001, truncated: true });
    expect(answer.rejections).toHaveLength(1000);
    expect(answer.rejections.at(-1)?.line).toBe(1001);
  });

  test('are rejected if their kept cells exceed 64 KiB together, and cells of skipped columns do not count', async () => {
    const { id, owner } = await fixture.createWorkspace();
    const half = 32 * 1024;
    const line = (name: string, address: number, unknown: number, skipped = 0) =>
      `DEMO,${name},1,${'é'.repeat(address / 2)},"{""a"":1}",${'x'.repeat(unknown)},${'y'.repeat(skipped)}\n`;
    const around = Buffer.byteLength('DEMOA1{"a":1}');
    const file = [
      `${header},address,extra,unknown,skipped\n`,
      line('A', half, half - around),
      line('B', half, half - around + 1),
      line('C', half, 0, 2 * half),
    ].join('');
    expect(await importFile(owner, file, { query: '?ignore=skipped' })).toEqual(
      report({
        accepted: 2,
        rejected: 1,
        extraLeftOut: 1,
        ignoredColumns: ['skipped'],
        rejections: [{ line: 3, reason: 'The line has cells of more than 64 KiB together' }],
      }),
    );
    expect(await names(id)).toEqual(['A', 'C']);
  });

  test('have the limits of a single create for unknown fields', async () => {
    const { id, owner } = await fixture.createWorkspace();
    const more = Array.from({ length: 40 }, (_, i) => `f${i}`);
    const file = `${header},${more.join(',')}\nDEMO,A,1,${more.map(() => 'x').join(',')}\nDEMO,B,1,${'x'.repeat(9000)}${','.repeat(39)}\n`;
    expect(await importFile(owner, file)).toEqual(report({ accepted: 2, extraLeftOut: 9 }));
    const [first, second] = await leadsOf(id);
    expect(Object.keys(first?.['extra'] ?? {})).toHaveLength(32);
    expect(second?.['extra']).toBeNull();
  });

  test('may have any separator, line ending and byte order mark that spreadsheets write', async () => {
    const { id, owner } = await fixture.createWorkspace();
    const file = `\ufeff${header}\r\nDEMO,"A;	B",1\r\n`;
    for (const form of [
      file,
      file.replaceAll(',', ';'),
      file.replaceAll(',', '\t'),
      file.replaceAll('\r\n', '\n'),
      file.replaceAll('\r\n', '\r'),
    ]) {
      expect(await importFile(owner, form)).toEqual(report({ accepted: 1 }));
    }
    expect(new Set(await names(id))).toEqual(new Set(['A;\tB']));
  });

  test('that are duplicates within the window of their campaign are stored as Trashed', async () => {
    const { id, owner, demoCampaignId } = await fixture.createWorkspace();
    await fixture.sql('UPDATE campaign SET duplicate_window_seconds = 3600 WHERE id = $1', [demoCampaignId]);
    const file = `${header}\nDEMO,A,+1 202 555 0143\nDEMO,B,+12025550143\nDEMO,C,+1 202 555 0144\n`;
    expect(await importFile(owner, file)).toEqual(report({ accepted: 3, duplicates: 1 }));
    expect(await importFile(owner, file)).toEqual(report({ accepted: 3, duplicates: 3 }));
    const stored = await leadsOf(id);
    expect(stored.map(({ status }) => String(status)).toSorted()).toEqual([
      'OnHold',
      'OnHold',
      'Trashed',
      'Trashed',
      'Trashed',
      'Trashed',
    ]);
  });

  test('of a publisher become leads of that publisher', async () => {
    const workspace = await fixture.createWorkspace();
    const { id } = workspace;
    const publisher = await workspace.addMember('publisher');
    expect(await importFile(publisher, `${header}\nDEMO,A,1\n`)).toEqual(report({ accepted: 1 }));
    expect((await leadsOf(id)).map(({ user_id }) => user_id)).toEqual([publisher.userId]);
  });
});

describe('a repeated import', () => {
  const file = (count: number) => `${header}\n${rows(1, count).join('')}`;

  test('adds no lead with the same Idempotency-Key, and adds all leads without one', async () => {
    const { id, owner } = await fixture.createWorkspace();
    const key = randomUUID();
    expect(await importFile(owner, file(1200), { key })).toEqual(report({ accepted: 1200 }));
    expect(await importFile(owner, file(1200), { key })).toEqual(report({ repeated: 1200 }));
    expect(await leadsOf(id)).toHaveLength(1200);
    // Appended lines add leads.
    expect(await importFile(owner, file(1203), { key })).toEqual(report({ accepted: 3, repeated: 1200 }));
    expect(await importFile(owner, file(2))).toEqual(report({ accepted: 2 }));
    expect(await importFile(owner, file(2))).toEqual(report({ accepted: 2 }));
    expect(await leadsOf(id)).toHaveLength(1207);
    const other = await fixture.createWorkspace();
    expect(await importFile(other.owner, file(2), { key })).toEqual(report({ accepted: 2 }));
  });

  test('rejects a line with other content, and accepts every line if another user sends it', async () => {
    const workspace = await fixture.createWorkspace();
    const { id, owner } = workspace;
    const key = randomUUID();
    await importFile(owner, file(3), { key });
    const reason =
      'An earlier import of this file (same Idempotency-Key) stored this line with other values or in another campaign';
    expect(await importFile(owner, file(3).replace('Lead 000002', 'Other'), { key })).toEqual(
      report({ repeated: 2, rejected: 1, rejections: [{ line: 3, reason }] }),
    );
    const manager = await workspace.addMember('manager');
    expect(await names(id)).not.toContain('Other');
    expect(await importFile(manager, file(3), { key })).toEqual(report({ accepted: 3 }));
    expect(await leadsOf(id)).toHaveLength(6);
  });

  test('trashes an appended line as a duplicate of a repeated line within the window of the campaign only', async () => {
    const { id, owner, demoCampaignId } = await fixture.createWorkspace();
    await fixture.sql('UPDATE campaign SET duplicate_window_seconds = 3600 WHERE id = $1', [demoCampaignId]);
    const key = randomUUID();
    const first = `${header}\nDEMO,A,+1 202 555 0143\n`;
    await importFile(owner, first, { key });
    await fixture.sql(
      `UPDATE lead SET created_at = now() - interval '2 hours', updated_at = now() WHERE workspace_id = $1`,
      [id],
    );
    const appended = `${first}DEMO,B,+12025550143\n`;
    expect(await importFile(owner, appended, { key })).toEqual(report({ accepted: 1, repeated: 1 }));
    expect(await importFile(owner, `${appended}DEMO,C,+12025550143\n`, { key })).toEqual(
      report({ accepted: 1, duplicates: 1, repeated: 2 }),
    );
    const [a, b, c] = await leadsOf(id);
    expect([a, b, c].map((lead) => [lead?.['status'], lead?.['duplicate_of']])).toEqual([
      ['OnHold', null],
      ['OnHold', null],
      ['Trashed', b?.['id']],
    ]);
  });

  test('trashes no appended line as a duplicate of a line that is rejected for its other content', async () => {
    const { id, owner, demoCampaignId } = await fixture.createWorkspace();
    await fixture.sql('UPDATE campaign SET duplicate_window_seconds = 3600 WHERE id = $1', [demoCampaignId]);
    const key = randomUUID();
    await importFile(owner, `${header}\nDEMO,A,+1 202 555 0143\n`, { key });
    const changed = `${header}\nDEMO,A,+1 202 555 0144\nDEMO,B,+1 202 555 0144\n`;
    expect(await importFile(owner, changed, { key })).toMatchObject({
      accepted: 1,
      duplicates: 0,
      rejected: 1,
      rejections: [{ line: 2 }],
    });
    expect((await leadsOf(id)).map(({ status }) => status)).toEqual(['OnHold', 'OnHold']);
  });

  test('recognizes the leads that the release before stored, also of a paused campaign', async () => {
    const { id, owner, demoCampaignId } = await fixture.createWorkspace();
    const key = randomUUID();
    await importFile(owner, file(3), { key: randomUUID() });
    for (const [index, lead] of (await leadsOf(id)).entries()) {
      await fixture.copyLead(String(lead['id']), earlierId({ ...owner, isBrowser: false }, key, index + 2));
    }
    expect(await importFile(owner, file(4), { key })).toEqual(report({ accepted: 1, repeated: 3 }));
    await fixture.sql("UPDATE campaign SET status = 'paused' WHERE id = $1", [demoCampaignId]);
    expect(await importFile(owner, file(5), { key })).toMatchObject({ repeated: 4, rejected: 1 });
  });

  test('recognizes its leads even if they were edited and their campaign was paused since', async () => {
    const { id, owner, demoCampaignId } = await fixture.createWorkspace();
    const key = randomUUID();
    await importFile(owner, file(2), { key });
    await fixture.sql("UPDATE campaign SET status = 'paused' WHERE id = $1", [demoCampaignId]);
    await fixture.sql("UPDATE lead SET city = 'London' WHERE workspace_id = $1", [id]);
    expect(await importFile(owner, file(3), { key })).toMatchObject({
      repeated: 2,
      rejected: 1,
      accepted: 0,
    });
  });

  test('stores each line once if 3 requests run concurrently on 2 instances', async () => {
    const database = await crmDatabase();
    await using first = await startCrmService(database);
    await using second = await startCrmService(database);
    const { id, owner, demoCampaignId } = await fixture.createWorkspace();
    for (const window of [null, 3600]) {
      await fixture.sql('UPDATE campaign SET duplicate_window_seconds = $2 WHERE id = $1', [
        demoCampaignId,
        window,
      ]);
      await fixture.sql('DELETE FROM lead WHERE workspace_id = $1', [id]);
      const key = randomUUID();
      const headers = { ...owner.headers, 'Content-Type': 'text/csv', 'Idempotency-Key': key };
      const answers = await Promise.all(
        [first, second, first].map((each) => each.send({ method: 'POST', path, headers, body: file(3000) })),
      );
      const reports = answers.map((answer) => answer.json<Report>());
      for (const each of reports) expect(each).toMatchObject({ success: true, rejected: 0 });
      expect(reports.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(3000);
      expect(reports.reduce((sum, { repeated }) => sum + repeated, 0)).toBe(6000);
      expect(await leadsOf(id)).toHaveLength(3000);
    }
  });

  test('stores the missing lines after an interrupted upload', async () => {
    const { id, owner } = await fixture.createWorkspace();
    const key = randomUUID();
    const upload = open(owner, { 'Idempotency-Key': key });
    upload.outgoing.write(`${header}\n${rows(1, 2200).join('')}DEMO,half a li`);
    await until(async () => (await leadsOf(id)).length >= 2000);
    upload.outgoing.destroy();
    await sleep(300);
    const stored = (await leadsOf(id)).length;
    expect(stored).toBe(2000);
    expect(await importFile(owner, file(3000), { key })).toEqual(
      report({ accepted: 3000 - stored, repeated: stored }),
    );
    expect(new Set(await names(id)).size).toBe(3000);
  });
});

/** Returns the database URL of the service under test. */
async function crmDatabase(): Promise<string> {
  const [row] = await fixture.sql<{ name: string }>('SELECT current_database() AS name');
  const { inject } = await import('vitest');
  const url = new URL(inject('postgres').adminUrl);
  url.pathname = row?.name ?? '';
  return url.href;
}

/** Starts an upload and returns the request with its body unwritten. */
function open(
  { headers }: TestMember,
  more: Record<string, string> = {},
  port = service.port,
): {
  outgoing: ClientRequest;
  answered: Promise<{ status: number; text: string; message: IncomingMessage }>;
} {
  const outgoing = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path,
    headers: { ...headers, 'Content-Type': 'text/csv', ...more },
  });
  outgoing.on('error', () => undefined);
  outgoing.flushHeaders();
  const answered = (async () => {
    const [message] = (await once(outgoing, 'response')) as [IncomingMessage];
    let text = '';
    for await (const piece of message) text += String(piece);
    return { status: message.statusCode ?? 0, text, message };
  })();
  answered.catch(() => undefined);
  return { outgoing, answered };
}

async function until(isMet: () => Promise<boolean>): Promise<void> {
  await expect.poll(isMet, { interval: 25 }).toBe(true);
}

describe('an upload', () => {
  test('is rejected with 415 unless it is uncompressed CSV in UTF-8', async () => {
    const { owner } = await fixture.createWorkspace();
    const file = `${header}\nDEMO,A,1\n`;
    for (const [headers, fix] of [
      [{ 'Content-Type': 'application/json' }, 'send text/csv'],
      [{ 'Content-Type': 'text/plain' }, 'send text/csv'],
      [{ 'Content-Type': 'multipart/form-data; boundary=x' }, 'send text/csv'],
      [{ 'Content-Type': 'text/csv; charset=iso-8859-1' }, 'send the body in UTF-8'],
      [{ 'Content-Encoding': 'gzip' }, 'send the body uncompressed'],
    ] as const) {
      const answer = await send(owner, file, { headers });
      expect([headers, answer.status]).toEqual([headers, 415]);
      expect(answer.json()).toMatchObject({ message: `Unsupported media type: ${fix}` });
    }
    for (const type of ['TEXT/CSV', 'text/csv; charset=utf-8; header=present', 'text/csv;charset="UTF-8"']) {
      expect(await importFile(owner, file, { headers: { 'Content-Type': type } })).toEqual(
        report({ accepted: 1 }),
      );
    }
    const json = await service.send({
      method: 'POST',
      path: '/api/v1/order/leads',
      headers: { ...owner.headers, 'Content-Type': 'text/csv' },
      body: file,
    });
    expect(json.status).toBe(415);
  });

  test('without a body is rejected with 400', async () => {
    const { owner } = await fixture.createWorkspace();
    const answer = await service.send({ method: 'POST', path, headers: { ...owner.headers } });
    expect(answer.status).toBe(400);
  });

  test('may be chunked and larger than 64 KiB', async () => {
    const { owner } = await fixture.createWorkspace();
    const answer = await service.send({
      method: 'POST',
      path,
      chunked: true,
      headers: { ...owner.headers, 'Content-Type': 'text/csv' },
      body: `${header}\n${rows(1, 5000).join('')}`,
    });
    expect(answer.json()).toEqual(report({ accepted: 5000 }));
  });

  test('may take longer than the timeout of other requests', async () => {
    const { owner } = await fixture.createWorkspace();
    const upload = open(owner);
    upload.outgoing.write(`${header}\n`);
    for (const row of rows(1, 14)) {
      upload.outgoing.write(row);
      await sleep(900);
    }
    upload.outgoing.end();
    const { status, text } = await upload.answered;
    expect([status, JSON.parse(text)]).toEqual([200, report({ accepted: 14 })]);
  });

  test('keeps the stored lines and adds no others if the client disconnects', async () => {
    const { id, owner } = await fixture.createWorkspace();
    const upload = open(owner);
    upload.outgoing.write(`${header}\n${rows(1, 1100).join('')}`);
    await until(async () => (await leadsOf(id)).length === 1000);
    upload.outgoing.destroy();
    await expect
      .poll(() => service.logs.entries().findLast(({ level }) => level !== 'debug'))
      .toMatchObject({ level: 'info', msg: 'The client disconnected during the request' });
    expect(await leadsOf(id)).toHaveLength(1000);
    expect(service.logs.entries().filter(({ level }) => level === 'error')).toEqual([]);
    // The client finds it in the request log of its key.
    await until(
      async () =>
        (
          await fixture.sql('SELECT FROM api_request WHERE api_key_id = $1 AND status = 499', [
            owner.apiKeyId,
          ])
        ).length === 1,
    );
  });

  test('applies a pause and a creation of a campaign to the lines of later batches', async () => {
    const workspace = await fixture.createWorkspace();
    const { id, owner, demoCampaignId } = workspace;
    const upload = open(owner);
    upload.outgoing.write(`${header}\n${rows(1, 499).join('')}LATER,early,1\n`);
    await until(async () => (await leadsOf(id)).length === 499);
    await fixture.sql("UPDATE campaign SET status = 'paused' WHERE id = $1", [demoCampaignId]);
    await workspace.addCampaign('LATER');
    upload.outgoing.end('DEMO,paused,1\nLATER,created,1\n');
    const { status, text } = await upload.answered;
    expect([status, JSON.parse(text)]).toMatchObject([
      200,
      { accepted: 500, rejected: 2, rejections: [{ line: 501 }, { line: 502 }] },
    ]);
    expect(await names(id)).toContain('created');
  });

  test('that is rejected early returns its response to a client that still sends', async () => {
    const { owner } = await fixture.createWorkspace();
    const upload = open(owner);
    upload.outgoing.write('x,y\n');
    const timer = setInterval(() => upload.outgoing.write(`${'x'.repeat(50_000)}\n`), 5);
    try {
      expect((await upload.answered).status).toBe(400);
    } finally {
      clearInterval(timer);
      upload.outgoing.destroy();
    }
  });

  test('is rejected with 429 while 4 others of its workspace are in progress', async () => {
    const { id, owner } = await fixture.createWorkspace();
    const uploads = [1, 2, 3, 4].map(() => open(owner));
    for (const { outgoing } of uploads) outgoing.write(`${header}\n${rows(1, 500).join('')}`);
    await until(async () => (await leadsOf(id)).length === 4 * 500);
    const answer = await send(owner, `${header}\n`);
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    uploads[0]?.outgoing.destroy();
    await until(async () => (await send(owner, `${header}\n`)).status === 200);
    for (const { outgoing } of uploads) outgoing.end();
    for (const { answered } of uploads.slice(1)) expect((await answered).status).toBe(200);
  });

  test('logs no personal data of the file', async () => {
    const { owner } = await fixture.createWorkspace();
    const file = `${header},description\nDEMO,${personalData.name},'${personalData.phone},${personalData.description}\nDEMO,${personalData.name},,"${personalData.s1}\n`;
    expect(await importFile(owner, file)).toMatchObject({ accepted: 1, rejected: 1 });
    service.logs.assertNothingConfidential();
  });
});

describe('an interrupted import', () => {
  /** Starts a TCP proxy to Postgres. `cut` closes its connections and rejects further ones. */
  async function startProxy(databaseUrl: string): Promise<{ url: string; cut(): void; server: Server }> {
    const target = new URL(databaseUrl);
    const sockets = new Set<Socket>();
    let isOpen = true;
    const server = createServer((socket) => {
      if (!isOpen) return void socket.destroy();
      const upstream = connect({ host: target.hostname, port: Number(target.port) });
      for (const each of [socket, upstream]) {
        sockets.add(each);
        each.on('error', () => undefined);
        each.on('close', () => [socket, upstream].forEach((one) => one.destroy()));
      }
      socket.pipe(upstream).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = new URL(databaseUrl);
    url.hostname = '127.0.0.1';
    url.port = String((server.address() as { port: number }).port);
    const cut = () => {
      isOpen = false;
      for (const socket of sockets) socket.destroy();
    };
    return { url: url.href, cut, server };
  }

  test('is answered with 503 if the database fails, and can be retried with its Idempotency-Key', async () => {
    const proxy = await startProxy(await crmDatabase());
    await using second = await startCrmService(proxy.url);
    const { id, owner } = await fixture.createWorkspace();
    const key = randomUUID();
    const upload = open(owner, { 'Idempotency-Key': key }, second.port);
    upload.outgoing.write(`${header}\n${rows(1, 1000).join('')}`);
    await until(async () => (await leadsOf(id)).length === 1000);
    proxy.cut();
    upload.outgoing.end(rows(1001, 3000).join(''));
    const { status, text, message } = await upload.answered;
    expect([status, JSON.parse(text)]).toEqual([
      503,
      { success: false, error: 'error', message: 'Service temporarily unavailable' },
    ]);
    expect(Number(message.headers['retry-after'])).toBeGreaterThan(0);
    proxy.server.close();
    expect(await importFile(owner, `${header}\n${rows(1, 3000).join('')}`, { key })).toEqual(
      report({ accepted: 2000, repeated: 1000 }),
    );
  });

  test('is answered with 503 when the service stops, even if the client sends nothing more', async () => {
    const second = await startCrmService(await crmDatabase());
    const { id, owner } = await fixture.createWorkspace();
    const upload = open(owner, {}, second.port);
    upload.outgoing.write(`${header}\n${rows(1, 500).join('')}`);
    await until(async () => (await leadsOf(id)).length === 500);
    const stopped = second[Symbol.asyncDispose]();
    const { status, text } = await upload.answered;
    expect([status, JSON.parse(text)]).toMatchObject([503, { message: 'The service is stopping' }]);
    upload.outgoing.destroy();
    await stopped;
  });
});
