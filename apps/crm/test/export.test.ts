import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { extraBounds } from '@leads/core/lead';
import type { TestMember, TestWorkspace } from '@leads/test-kit/fixture';
import { recordStatements } from '@leads/test-kit/recorded-statements';
import type { Answer } from '@leads/test-kit/http-client';
import { storableText } from '@leads/test-kit/suites/hostile-input';
import { onOneDay } from '@leads/test-kit/one-day';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { fillWorkspace } from './leads-api.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const path = '/api/v1/order/leads';
const csv = 'text/csv';
const ndjson = 'application/x-ndjson';

type Row = Record<string, string>;
type Detail = Record<string, unknown> & { id: string; name: string };

const get = (member: TestMember, accept: string | undefined, query = '', method = 'GET') =>
  service.send({
    method,
    path: path + query,
    headers: { ...member.headers, ...(accept !== undefined && { Accept: accept }) },
  });

/** Parses CSV strictly by RFC 4180: CRLF, commas, doubled quotes. */
function parse(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy;
  while (cell.lastIndex < text.length) {
    const found = cell.exec(text);
    if (found === null) throw new Error(`No CSV at ${cell.lastIndex}`);
    const [, quoted, plain = '', end] = found;
    record.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ',') continue;
    records.push(record);
    record = [];
  }
  return records;
}

function rowsOf(text: string): Row[] {
  const [header = [], ...records] = parse(text);
  return records.map((record) => {
    expect(record).toHaveLength(header.length);
    return Object.fromEntries(header.map((name, i) => [name, record[i] ?? '']));
  });
}

const exportCsv = async (member: TestMember, query = '') => rowsIn(await get(member, csv, query));
const exportNdjson = async (member: TestMember, query = '') => leadsIn(await get(member, ndjson, query));

/** Returns the rows of an export as CSV. */
function rowsIn(answer: Answer): Row[] {
  expect([answer.status, answer.headers['content-type']]).toEqual([
    200,
    'text/csv; charset=utf-8; header=present',
  ]);
  return rowsOf(answer.text);
}

/** Returns the leads of an export as NDJSON. */
function leadsIn(answer: Answer): Detail[] {
  expect([answer.status, answer.headers['content-type']]).toEqual([200, ndjson]);
  return answer.text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Detail);
}

/** Matches the statements that read leads, without those that read their counts. */
const leadStatements = /FROM lead(_of_workspace)?\b/;
/** Matches the statements that search campaigns by code and name. */
const searchesOfCampaigns = /FROM campaign[^;]+starts_with/;

const fill = (workspace: TestWorkspace, count: number, description?: string) =>
  fillWorkspace(fixture, workspace, count, description);

describe('an export', () => {
  test('without a matching lead has only the header in CSV, and no line in NDJSON', async () => {
    const { owner } = await fixture.createWorkspace();
    const file = await get(owner, csv);
    expect(file.text).toBe(
      'id,name,phone,createdAt,updatedAt,campaignId,userId,ip,address,state,region,country,status,version,campaignCode,source,phoneE164,email,city,street,zipcode,website,description,s1,lpName,duplicateOf,extra,approveAt,payoutAmount,payoutCurrency,payoutRule,assigneeId,callbackAt,holdReason\r\n',
    );
    expect((await get(owner, ndjson)).text).toBe('');
  });

  test('has a file name, forbids caching, and varies by Accept', () =>
    onOneDay(async (day) => {
      const { owner } = await fixture.createWorkspace();
      for (const [type, format] of [
        [csv, 'csv'],
        [ndjson, 'ndjson'],
      ] as const) {
        const { headers } = await get(owner, type);
        expect(headers['content-disposition']).toBe(`attachment; filename="leads-${day}.${format}"`);
        expect(headers['cache-control']).toBe('no-store');
        expect(headers.vary).toBe('Accept');
      }
      expect((await get(owner, undefined)).headers.vary).toBe('Accept');
      expect((await get(owner, csv, '?limit=1')).headers.vary).toBe('Accept');
    }));

  test('replaces the JSON list only if Accept prefers a file', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner } = workspace;
    await fixture.leads.insert([workspace.lead(owner, { email: 'a@b.io' })]);
    const list = await get(owner, undefined);
    expect(Object.keys(list.json<Detail[]>()[0] ?? {})).not.toContain('email');
    const json = 'application/json; charset=utf-8';
    const csvType = 'text/csv; charset=utf-8; header=present';
    for (const [accept, type] of [
      [undefined, json],
      ['*/*', json],
      ['application/json', json],
      ['application/*', json],
      ['application/json, text/csv', json],
      ['text/csv;q=0.5, application/json;q=0.6', json],
      ['text/csv;q=0', json],
      ['text/csv;q=nonsense', json],
      ['text/html', json],
      ['text/csv;header=absent', json],
      ['text/csv;charset=iso-8859-1', json],
      ['text/csv', csvType],
      ['text/csv, application/json', csvType],
      ['TEXT/CSV', csvType],
      ['text/*', csvType],
      ['text/csv;header=present;charset=utf-8', csvType],
      ['text/csv, */*;q=0.8', csvType],
      ['application/json;q=0.1, text/csv;q=0.2', csvType],
      ['application/x-ndjson', ndjson],
      ['application/x-ndjson, text/csv;q=0.9', ndjson],
      ['application/x-ndjson, application/problem+json', ndjson],
    ] as const) {
      const answer = await get(owner, accept);
      expect([accept, answer.status, answer.headers['content-type']]).toEqual([accept, 200, type]);
      expect(answer.text === list.text).toBe(type === json);
    }
  });

  test('of a selection contains the leads that the caller sees, in the given order, and is in the audit log', async () => {
    const team = await fixture.createWorkspace();
    const seller = await team.addMember('publisher');
    const own = Array.from({ length: 40 }, (_, i) => team.lead(seller, { createdAt: new Date(1e12 + i) }));
    const [others, unselected] = [team.lead(team.owner), team.lead(seller)];
    const foreign = await fixture.createWorkspace();
    const [strange] = [foreign.lead(foreign.owner)];
    await fixture.leads.insert([...own, others, unselected, strange]);
    const send = (member: TestMember, body: unknown, accept = csv) =>
      service.send({
        method: 'POST',
        path: `${path}/export`,
        headers: { ...member.headers, Accept: accept },
        body,
      });
    const ownIds = own.map(({ id }) => id);
    const ids = [...ownIds, others.id, strange.id, crypto.randomUUID(), 'no id'];

    const file = await send(seller, { ids, sort: 'createdAt' });
    expect([file.status, file.headers['content-type']]).toEqual([
      200,
      'text/csv; charset=utf-8; header=present',
    ]);
    expect(rowsOf(file.text).map(({ id }) => id)).toEqual(ownIds);
    const lines = (await send(team.owner, { ids }, ndjson)).text.split('\n').slice(0, -1);
    expect(lines.map((line) => (JSON.parse(line) as Detail).id)).toEqual([others.id, ...ownIds.toReversed()]);
    expect(
      await fixture.sql(
        `SELECT actor_id AS by, details FROM audit_entry WHERE workspace_id = $1 AND action = 'leads.exported' ORDER BY at`,
        [team.id],
      ),
    ).toEqual([
      { by: seller.userId, details: { format: 'csv', filters: 'sort, ids' } },
      { by: team.owner.userId, details: { format: 'ndjson', filters: 'ids' } },
    ]);

    for (const body of [
      {},
      { ids: [] },
      { ids: ['x', 'x'] },
      { ids: Array.from({ length: 1001 }, String) },
      { ids, q: 'x' },
      { ids, sort: 'name' },
    ]) {
      expect((await send(seller, body)).status).toBe(400);
    }
  });

  test('rejects the parameters of a page with 400', async () => {
    const { owner } = await fixture.createWorkspace();
    for (const accept of [csv, ndjson]) {
      for (const query of ['limit=10', 'cursor=x', 'count=exact']) {
        const answer = await get(owner, accept, `?${query}`);
        expect([answer.status, answer.json()]).toEqual([
          400,
          { success: false, error: 'validation', message: 'Invalid input data' },
        ]);
        const problem = await get(owner, `${accept}, application/problem+json`, `?${query}`);
        expect(problem.json<{ errors: object[] }>().errors).toEqual([
          { parameter: query.split('=')[0], detail: 'is not allowed in an export' },
        ]);
      }
      expect((await get(owner, accept, '?nonsense=1')).status).toBe(400);
      expect((await get(owner, accept, '?phone=x')).status).toBe(400);
    }
  });

  test('has the same headers for HEAD, which does not read all leads', async () => {
    const workspace = await fixture.createWorkspace();
    await fill(workspace, 2000);
    const statements = await recordStatements(leadStatements, async () => {
      const answer = await get(workspace.owner, csv, '', 'HEAD');
      expect([answer.status, answer.headers['content-type']]).toEqual([
        200,
        'text/csv; charset=utf-8; header=present',
      ]);
      // The length of the file is unknown, and the length of HEAD must be that of GET (RFC 9110, 8.6).
      expect(answer.headers['content-length']).toBeUndefined();
    });
    expect(statements).toHaveLength(1);
  });
});

describe('the leads of an export', () => {
  test('are all that match, in the order of the list', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner } = workspace;
    await fill(workspace, 1234);
    await fixture.sql(
      "UPDATE lead SET status = 'Approved', updated_at = updated_at + interval '1 h' WHERE workspace_id = $1 AND (created_at < '2026-01-01 00:00:01.0005')",
      [workspace.id],
    );
    await fixture.sql(
      "UPDATE lead SET assignee_id = $2, lp_name = 'quiz', s1 = right(id::text, 1) WHERE workspace_id = $1",
      [workspace.id, owner.userId],
    );
    for (const query of [
      '',
      'status=Approved',
      'sort=createdAt',
      'sort=updatedAt',
      'sort=-updatedAt&status=OnHold',
      'sort=campaign',
      'sort=-user',
      'sort=assignee&has=assignee',
      'sort=-lpName&has=lpName',
      'sort=s1&has=s1',
      'q=lead',
      'createdFrom=2026-01-01T00:00:01Z',
      'phone=2025550143&source=crm',
      's1=none',
    ]) {
      const listed: string[] = [];
      let next: string | undefined = `?limit=1000${query && `&${query}`}`;
      while (next !== undefined) {
        const page = await get(owner, undefined, next);
        listed.push(...page.json<Detail[]>().map(({ id }) => id));
        next = /<[^>]+(\?[^>]+)>; rel="next"/.exec(String(page.headers['link']))?.[1];
      }
      const search = query && `?${query}`;
      const searches = await recordStatements(searchesOfCampaigns, async () => {
        expect((await exportCsv(owner, search)).map(({ id }) => id)).toEqual(listed);
      });
      expect(searches).toHaveLength(query.startsWith('q=') ? 1 : 0);
      expect((await exportNdjson(owner, search)).map(({ id }) => id)).toEqual(listed);
    }
  });

  test('are those of the workspace for owners and managers, and its own for a publisher', async () => {
    const workspace = await fixture.createWorkspace();
    const publisher = await workspace.addMember('publisher');
    const manager = await workspace.addMember('manager');
    const other = await fixture.createWorkspace();
    const [own, owners] = [workspace.lead(publisher), workspace.lead(workspace.owner)];
    await fixture.leads.insert([own, owners, other.lead(other.owner)]);
    for (const [member, ids] of [
      [workspace.owner, [own.id, owners.id]],
      [manager, [own.id, owners.id]],
      [publisher, [own.id]],
    ] as const) {
      expect((await exportCsv(member)).map((lead) => String(lead['id'])).toSorted()).toEqual(ids.toSorted());
      expect((await exportNdjson(member)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    }
  });
});

const hostile = fc.oneof(
  { arbitrary: storableText, weight: 2 },
  fc.constantFrom(
    '=1+1',
    "'=1",
    "''+1",
    '+44',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r\n',
    '\n',
    '＝1',
    '"',
    '""',
    ',',
    'a,b;c\td',
    '\ufeffx',
    "'",
    "it's",
    '"'.repeat(60_000),
    'x'.repeat(65_000),
    '=HYPERLINK("http://x","y")',
  ),
);
const texts = 'address country region city street zipcode website description'.split(' ');
/** Returns the most bytes of a JSON text after Postgres wrote its numbers without exponents. */
const storedBytes = (json: string) => 4 * (json.length + 324 * (json.match(/e[+-]/g)?.length ?? 0));
const extras = fc
  .dictionary(
    hostile.filter((text) => text.length < 100),
    fc.jsonValue(),
    { maxKeys: 3 },
  )
  // An import stores an integer beyond 2^53 as a text of its digits.
  .map((value) =>
    JSON.stringify(value, (_name, each: unknown) =>
      typeof each === 'number' && Math.abs(each) > Number.MAX_SAFE_INTEGER ? 0 : each,
    ),
  )
  // An import leaves out the rest.
  .filter((json) => storedBytes(json) < extraBounds.bytes);

describe('the content of an export', () => {
  test('has every stored field with the value that GET of the lead returns', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, demoCampaignId } = workspace;
    const first = workspace.lead(owner);
    const full = workspace.lead(owner, {
      source: 'intake',
      status: 'Approved',
      ip: '203.0.113.7',
      s1: 'click',
      lpName: 'page',
      state: 'Virginia',
      email: 'a@b.io',
      phoneE164: '+442079460958',
      address: 'a',
      country: 'GB',
      region: 'r',
      city: 'c',
      street: 's',
      zipcode: 'z',
      website: 'w',
      description: 'd',
      extra: '{"a": {"b": [1, null, "x"]}}',
      duplicateOf: first.id,
      createdAt: new Date(1000),
      updatedAt: new Date(2000),
    });
    await fixture.sql(`UPDATE campaign SET payout_amount = 12.5, payout_currency = 'EUR' WHERE id = $1`, [
      demoCampaignId,
    ]);
    await fixture.leads.insert([first, full]);
    await fixture.sql(
      `UPDATE lead SET assignee_id = $2, callback_at = '2026-01-31T09:30:00.5Z', hold_reason = 'Proof' WHERE id = $1`,
      [full.id, owner.userId],
    );
    const single = (
      await service.send({ path: `${path}/${full.id}`, headers: { ...owner.headers } })
    ).json<Detail>();
    expect(single['campaignId']).toBe(demoCampaignId);
    const payout = { payoutAmount: '12.5', payoutCurrency: 'EUR', payoutRule: 'campaign' };
    expect(single['payout']).toEqual({ amount: '12.5', currency: 'EUR', rule: 'campaign' });
    const [, line] = await exportNdjson(owner);
    expect(line).toEqual(single);
    const [, row] = await exportCsv(owner);
    // A held lead has no time of its approval.
    const { approveAt, ...filledColumns } = row ?? {};
    expect(approveAt).toBe('');
    for (const [name, text] of Object.entries(filledColumns)) {
      const value = { ...single, ...payout }[name];
      const plain = /^'[=+]/.test(text) ? text.slice(1) : text;
      const read: unknown = name === 'extra' ? JSON.parse(text) : plain;
      expect([name, read]).toEqual([name, name === 'extra' ? value : String(value)]);
    }
    expect(row?.['phone']).toBe(`'${single['phone'] as string}`);
  });

  test('has no cell with a formula for hostile texts, and its import creates the same leads', async () => {
    const property = fc.array(
      fc
        .record({
          name: hostile.filter((text) => text !== ''),
          phone: hostile.filter((text) => text !== ''),
          ...Object.fromEntries(texts.map((name) => [name, fc.option(hostile, { nil: undefined })])),
          extra: fc.option(extras, { nil: undefined }),
        })
        // An import rejects a larger line, as the service rejects a larger create. The line also has the campaign.
        .filter(({ extra = '', ...fields }) => {
          const bytes = Buffer.byteLength(Object.values(fields).join('')) + storedBytes(extra);
          return bytes < 65_000 + 'DEMO'.length;
        }),
      { minLength: 1, maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(property, async (all) => {
        const from = await fixture.createWorkspace();
        const to = await fixture.createWorkspace();
        await fixture.leads.insert(
          all.map(({ extra, ...fields }, i) =>
            from.lead(from.owner, {
              ...fields,
              ...(extra !== undefined && { extra }),
              createdAt: new Date(i * 1000),
            }),
          ),
        );
        const answer = await get(from.owner, csv, '?sort=createdAt');
        const rows = rowsOf(answer.text);
        for (const row of rows) {
          for (const text of Object.values(row)) expect(text).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
        }
        const imported = await service.send({
          method: 'POST',
          path: `${path}/import`,
          headers: { ...to.owner.headers, 'Content-Type': 'text/csv' },
          body: answer.bytes,
        });
        expect(imported.json()).toMatchObject({
          accepted: all.length,
          rejected: 0,
          extraLeftOut: 0,
          rejections: [],
        });
        const content = async (workspaceId: string) => {
          const stored = await fixture.sql<Record<string, unknown>>(
            `SELECT name, phone, ${texts.map((name) => `nullif(${name}, '') AS ${name}`).join()}, nullif(extra, '{}') AS extra
             FROM lead WHERE workspace_id = $1`,
            [workspaceId],
          );
          return stored.map((row) => JSON.stringify(row)).toSorted();
        };
        expect(await content(to.id)).toEqual(await content(from.id));
      }),
      { numRuns: 25, endOnFailure: true },
    );
  });
});

/** Starts an export and returns the response with its body unread. */
async function open({ headers }: TestMember, accept = csv): Promise<IncomingMessage> {
  const outgoing = request({
    host: '127.0.0.1',
    port: service.port,
    path,
    headers: { ...headers, Accept: accept },
  });
  outgoing.on('error', () => undefined);
  outgoing.end();
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  answer.on('error', () => undefined);
  return answer;
}

describe('the download of an export', () => {
  test('stops reading leads while the client does not read, and ends if the client disconnects', async () => {
    const workspace = await fixture.createWorkspace();
    await fill(workspace, 20_000, 'x'.repeat(5000));
    let answer: IncomingMessage | undefined;
    const opening = await recordStatements(leadStatements, async () => {
      answer = await open(workspace.owner);
    });
    let read = opening.length;
    // The sockets buffer a few of the 100 MB.
    for (let more = -1; more !== 0 && read < 150; read += more) {
      more = (await recordStatements(leadStatements, () => sleep(500))).length;
    }
    expect(read).toBeGreaterThan(0);
    expect(read).toBeLessThan(150);
    const after = await recordStatements(leadStatements, async () => {
      answer?.destroy();
      await sleep(500);
    });
    expect(after.length).toBeLessThan(3);
    expect(service.logs.entries().filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('is rejected with 429 while 4 others of its workspace are in progress', async () => {
    const workspace = await fixture.createWorkspace();
    await fill(workspace, 8000, 'x'.repeat(5000));
    const answers = await Promise.all([1, 2, 3, 4].map(() => open(workspace.owner)));
    const refused = await get(workspace.owner, csv);
    expect([refused.status, refused.headers['retry-after'], refused.headers['content-disposition']]).toEqual([
      429,
      '5',
      undefined,
    ]);
    expect((await get(workspace.owner, undefined)).status).toBe(200);
    for (const answer of answers) answer.destroy();
    await expect.poll(async () => (await get(workspace.owner, ndjson)).status).toBe(200);
  });

  test('is incomplete and logged if the database fails midway, and answered with 500 if it fails at the start', async () => {
    const workspace = await fixture.createWorkspace();
    await fill(workspace, 20_000, 'x'.repeat(5000));
    const answer = await open(workspace.owner);
    await sleep(300);
    await fixture.sql('ALTER TABLE lead RENAME TO leads_away');
    try {
      let bytes = 0;
      answer.on('data', (piece: Buffer) => (bytes += piece.length));
      await new Promise((resolve) => answer.once('close', resolve));
      expect(answer.complete).toBe(false);
      expect(bytes).toBeGreaterThan(5000);
      const logged = service.logs.entries().filter(({ level }) => level === 'error' || level === 'warn');
      expect(logged).toContainEqual(
        expect.objectContaining({ err: expect.objectContaining({ type: 'DatabaseError' }) }),
      );

      for (const accept of [csv, ndjson]) {
        const refused = await get(workspace.owner, accept);
        expect([refused.status, refused.headers['content-type'], refused.json()]).toEqual([
          500,
          'application/json; charset=utf-8',
          { success: false, error: 'error', message: 'An unexpected error occurred' },
        ]);
        expect(refused.headers['content-disposition']).toBeUndefined();
      }
    } finally {
      await fixture.sql('ALTER TABLE leads_away RENAME TO lead');
    }
  });

  test('does not block the creation of leads', async () => {
    const workspace = await fixture.createWorkspace();
    await fill(workspace, 15_000);
    const { owner } = workspace;
    const body = { campaignCode: 'DEMO', name: 'New', phone: '1' };
    const createWhileExporting = async () => {
      let isDone = false;
      const exported = Promise.all([get(owner, ndjson), get(owner, csv), get(owner, ndjson)]).finally(() => {
        isDone = true;
      });
      let created = 0;
      while (!isDone) {
        const answer = await service.send({ method: 'POST', path, headers: { ...owner.headers }, body });
        expect(answer.status).toBe(200);
        created += 1;
      }
      const [first, second, third] = await exported;
      for (const leads of [leadsIn(first), rowsIn(second), leadsIn(third)]) {
        const old = leads.filter(({ name }) => name !== 'New').map(({ id }) => id);
        expect(new Set(old).size).toBe(15_000);
        expect(old).toHaveLength(15_000);
      }
      return created;
    };
    // A create that waits for the exports is the only one each time. A busy machine may delay a create as long.
    let created = 0;
    for (let attempt = 0; attempt < 5 && created < 2; attempt++) created = await createWhileExporting();
    expect(created).toBeGreaterThan(1);
  });
});
