import { randomUUID } from 'node:crypto';
import type { TestMember, TestWorkspace } from '@leads/test-kit/fixture';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { recordStatements } from '@leads/test-kit/recorded-statements';
import { constantFrom, forAll, integer, oneOf, query, tuple } from '@leads/test-kit/suites/hostile-input';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { fillWorkspace } from './leads-api.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const path = '/api/v1/order/leads';
const invalidInput = { success: false, error: 'validation', message: 'Invalid input data' };
const invalidCursor = { success: false, error: 'validation', message: 'Invalid cursor' };

interface Listed {
  id: string;
  createdAt: string;
  userId: string;
}

/** Returns one page, and the URLs of the next and the previous one. */
async function page(member: TestMember, search = '', at = path) {
  const answer = await service.send({ path: at + search, headers: { ...member.headers } });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  const { link } = answer.headers;
  const links = link === undefined ? [] : String(link).split(', ');
  const urls = new Map(
    links.map((each) => {
      const [, target = '', relation = ''] = /^<([^<>]+)>; rel="(next|prev)"$/.exec(each) ?? [];
      expect(new URL(target).origin).toBe(`http://127.0.0.1:${service.port}`);
      return [relation, target];
    }),
  );
  const urlOf = (relation: 'next' | 'prev') => {
    const url = urls.get(relation);
    return url === undefined ? undefined : new URL(url);
  };
  return { leads: answer.json<Listed[]>(), next: urlOf('next'), prev: urlOf('prev') };
}

/** Follows the links from page to page. Calls `between` after each page. */
async function walk(member: TestMember, limit: number, between: () => Promise<void> = async () => undefined) {
  const pages: Listed[][] = [];
  for (let next: URL | undefined = new URL(`http://x${path}?limit=${limit}`); next !== undefined; ) {
    const { leads, next: following } = await page(member, next.search);
    pages.push(leads);
    next = following;
    await between();
  }
  return pages;
}

async function expectRefused(member: TestMember, search: string, body: object) {
  const answer = await service.send({ path: path + search, headers: { ...member.headers } });
  expect([search, answer.status, answer.json()]).toEqual([search, 400, body]);
}

/** Inserts leads, `perMs` of them per millisecond, the last ones newest. @returns ids, newest first. */
async function insertLeads(workspace: TestWorkspace, member: TestMember, count: number, perMs = 1) {
  const start = Date.UTC(2026, 0, 1);
  const leads = Array.from({ length: count }, (_, i) =>
    workspace.lead(member, { createdAt: new Date(start + Math.floor(i / perMs)) }),
  );
  for (let i = 0; i < count; i += 1000) await fixture.leads.insert(leads.slice(i, i + 1000));
  return leads
    .toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1))
    .map(({ id }) => id);
}

const idsOf = (leads: readonly Listed[]) => leads.map(({ id }) => id);

describe('the list of leads', () => {
  test('is sorted by creation time, newest first, then by id (spec 4.2)', async () => {
    const workspace = await fixture.createWorkspace();
    const ids = await insertLeads(workspace, workspace.owner, 60, 20);
    expect(idsOf((await page(workspace.owner)).leads)).toEqual(ids);
  });

  test('has 100 leads a page by default, and up to 1,000 with limit (spec 8)', async () => {
    const workspace = await fixture.createWorkspace();
    const ids = await insertLeads(workspace, workspace.owner, 1001, 7);
    expect(idsOf((await page(workspace.owner)).leads)).toEqual(ids.slice(0, 100));
    for (const limit of [1, 2, 99, 999, 1000]) {
      const { leads, next } = await page(workspace.owner, `?limit=${limit}`);
      expect(idsOf(leads)).toEqual(ids.slice(0, limit));
      expect(next?.searchParams.get('limit')).toBe(String(limit));
    }
  });

  test('rejects an invalid limit and an unknown parameter with 400', async () => {
    const { owner } = await fixture.createWorkspace();
    for (const limit of [
      '0',
      '1001',
      '-1',
      '01',
      '1.5',
      '1e2',
      'x',
      '',
      '%2B5',
      '5%20',
      '10000',
      '9'.repeat(400),
    ]) {
      await expectRefused(owner, `?limit=${limit}`, invalidInput);
    }
    for (const search of [
      '?offset=1',
      '?limit=1&limit=2',
      '?limit=1&page=2',
      '?Limit=1',
      '?__proto__=1',
      '?=',
    ]) {
      await expectRefused(owner, search, invalidInput);
    }
  });

  test('links its pages without a gap or a repeat, and the last page has no link (spec 4.2)', async () => {
    const workspace = await fixture.createWorkspace();
    const ids = await insertLeads(workspace, workspace.owner, 250, 6);
    for (const limit of [1, 7, 50, 100, 249, 250, 251]) {
      const pages = await walk(workspace.owner, limit);
      expect(idsOf(pages.flat())).toEqual(ids);
      expect(pages).toHaveLength(Math.ceil(250 / limit));
    }
  });

  test.each(['', '&q=lead', '&sort=status', '&sort=-source&status=OnHold'])(
    'has up to 2 MiB a page with limit=1000%s, and links its pages in both directions without a gap or a repeat',
    async (search) => {
      const workspace = await fixture.createWorkspace();
      await fillWorkspace(fixture, workspace, 150);
      // Every third lead has a long address, and the last one is larger than the others.
      await fixture.sql(
        `UPDATE lead SET address = repeat('x', CASE name WHEN 'Lead 150' THEN 300000 ELSE 60000 END)
         WHERE workspace_id = $1 AND right(name, 2)::int % 3 = 0`,
        [workspace.id],
      );
      const walkPages = async (from: string, relation: 'next' | 'prev') => {
        const pages: string[][] = [];
        let last = from;
        for (let at: URL | undefined = new URL(`http://x${path}${from}`); at !== undefined; ) {
          last = at.search;
          const { leads, [relation]: following }: Awaited<ReturnType<typeof page>> = await page(
            workspace.owner,
            last,
          );
          expect(JSON.stringify(leads).length).toBeLessThan(2.3 * 1024 * 1024);
          pages.push(idsOf(leads));
          at = following;
        }
        return { pages, last };
      };
      const { pages, last } = await walkPages(`?limit=1000${search}`, 'next');
      expect(pages.length).toBeGreaterThan(1);
      const ids = pages.flat();
      expect([ids.length, new Set(ids).size]).toEqual([150, 150]);
      const backward = await walkPages(last, 'prev');
      expect(backward.pages.toReversed().flat()).toEqual(ids);
    },
  );

  test('has no gap or repeat if leads are inserted between the requests', async () => {
    const workspace = await fixture.createWorkspace();
    const ids = await insertLeads(workspace, workspace.owner, 60, 3);
    const pages = await walk(workspace.owner, 9, async () => {
      await fixture.leads.insert([workspace.lead(workspace.owner), workspace.lead(workspace.owner)]);
    });
    expect(idsOf(pages.flat())).toEqual(ids);
  });

  test('is a bare array, also with an empty query string', async () => {
    const workspace = await fixture.createWorkspace();
    const ids = await insertLeads(workspace, workspace.owner, 3);
    for (const search of ['', '?', '?&', '?&&']) {
      expect(idsOf((await page(workspace.owner, search)).leads)).toEqual(ids);
    }
  });

  test('shows ip and state of a lead from the intake', async () => {
    const workspace = await fixture.createWorkspace();
    const lead = workspace.lead(workspace.owner, {
      source: 'intake',
      ip: '2001:db8::7',
      s1: personalData.s1,
    });
    await fixture.leads.insert([lead]);
    await fixture.sql(`UPDATE lead SET state = 'Virginia', status = 'Paid' WHERE id = $1`, [lead.id]);
    expect((await page(workspace.owner)).leads).toEqual([
      {
        id: lead.id,
        name: personalData.name,
        phone: personalData.phone,
        createdAt: lead.createdAt.toISOString(),
        updatedAt: lead.updatedAt.toISOString(),
        campaignId: workspace.demoCampaignId,
        userId: workspace.owner.userId,
        ip: '2001:db8::7',
        state: 'Virginia',
        status: 'Paid',
      },
    ]);
  });
});

describe('the Link header', () => {
  const request = async (head: string) => {
    const workspace = await fixture.createWorkspace();
    const { owner } = workspace;
    const ids = await insertLeads(workspace, owner, 2);
    const lines = `API_KEY: ${owner.apiKey}\r\nAuthorization: Bearer ${owner.accessToken}\r\nConnection: close`;
    const [answer] = await service.sendRaw(`${head.replaceAll('\n', '\r\n')}\r\n${lines}\r\n\r\n`, {
      method: 'GET',
      path,
    });
    const [, url = ''] = /^<([^<>"\s]*)>; rel="next"$/.exec(String(answer?.headers['link'])) ?? [];
    // Resolves the link like a client, against the URL of the request.
    const next = new URL(url, `http://127.0.0.1:${service.port}`);
    expect(idsOf((await page(owner, next.search, next.pathname)).leads)).toEqual(ids.slice(1));
    return next.host;
  };

  test('has the host of the Host header', async () => {
    expect(await request(`GET ${path}?limit=1 HTTP/1.1\nHost: leads.example.io:8443`)).toBe(
      'leads.example.io:8443',
    );
    expect(await request(`GET ${path}?limit=1 HTTP/1.1\nHost: [::1]:3000`)).toBe('[::1]:3000');
  });

  test('has no host if the Host header is invalid', async () => {
    for (const host of [
      'a>b',
      'a", <http://evil.example>; rel="next',
      'é',
      'a b',
      'a/b',
      'a?b',
      'user@host',
      '',
    ]) {
      expect(await request(`GET ${path}?limit=1 HTTP/1.1\nHost: ${host}`)).toBe(`127.0.0.1:${service.port}`);
    }
  });

  test('is valid without a Host header and for a request with an absolute URL', async () => {
    expect(await request(`GET ${path}?limit=1 HTTP/1.0`)).toBe(`127.0.0.1:${service.port}`);
    expect(await request(`GET http://a.example${path}?limit=1 HTTP/1.1\nHost: a.example`)).toBe('a.example');
  });
});

describe('cursors', () => {
  test('of another workspace or of another set of visible leads are rejected with 400', async () => {
    const workspace = await fixture.createWorkspace();
    const other = await fixture.createWorkspace();
    const publisher = await workspace.addMember('publisher');
    const second = await workspace.addMember('publisher');
    for (const member of [workspace.owner, publisher, second]) await insertLeads(workspace, member, 2);
    await insertLeads(other, other.owner, 2);
    const searchOf = async (member: TestMember) => (await page(member, '?limit=1')).next?.search ?? '';
    for (const [from, to] of [
      [other.owner, workspace.owner],
      [workspace.owner, other.owner],
      [workspace.owner, publisher],
      [publisher, workspace.owner],
      [publisher, second],
    ] as const) {
      await expectRefused(to, await searchOf(from), invalidCursor);
    }
    const manager = await workspace.addMember('manager');
    expect((await page(manager, await searchOf(workspace.owner))).leads).toHaveLength(1);
  });

  test('that the service did not create are rejected with 400', async () => {
    const { owner } = await fixture.createWorkspace();
    const id = randomUUID();
    const made = [
      [],
      {},
      null,
      1,
      'x',
      [1, id],
      [1, id, 'x'],
      [-1, id, 'x'],
      [1e300, id, 'x'],
      [1, 'x', 'x'],
      [[], {}, null],
    ];
    const cursors = made.map((value) => Buffer.from(JSON.stringify(value)).toString('base64url'));
    for (const cursor of [...cursors, 'x', '%00', '%F0%9F%91%8D', '[]', '%ZZ', 'A'.repeat(2560)]) {
      await expectRefused(owner, `?cursor=${cursor}`, invalidCursor);
    }
    for (const cursor of ['', 'A'.repeat(2561)])
      await expectRefused(owner, `?cursor=${cursor}`, invalidInput);
  });

  test('with a changed bit are rejected with 400 or point into the same list', async () => {
    const workspace = await fixture.createWorkspace();
    await insertLeads(await fixture.createWorkspace(), workspace.owner, 5);
    const ids = await insertLeads(workspace, workspace.owner, 5);
    const cursor = (await page(workspace.owner, '?limit=2')).next?.searchParams.get('cursor') ?? '';
    expect(cursor.length).toBeGreaterThan(50);
    const changed = Array.from(cursor).flatMap((character, i) =>
      Array.from({ length: 8 }, (_, bit) => {
        const other = String.fromCharCode(character.charCodeAt(0) ^ (1 << bit));
        return cursor.slice(0, i) + other + cursor.slice(i + 1);
      }),
    );
    const cut = Array.from({ length: cursor.length - 1 }, (_, i) => cursor.slice(0, i + 1));
    for (const each of [...changed, ...cut, `${cursor}A`, `${cursor}=`, ` ${cursor}`, `${cursor}!`]) {
      const search = `?cursor=${encodeURIComponent(each)}`;
      const answer = await service.send({ path: path + search, headers: { ...workspace.owner.headers } });
      const refusal = answer.status === 200 ? undefined : [answer.status, answer.json()];
      // A valid cursor is canonical: it has no characters that decoding ignores.
      const isCanonical = Buffer.from(each, 'base64url').toString('base64url') === each;
      expect([each, isCanonical ? [undefined, [400, invalidCursor]] : [[400, invalidCursor]]]).toEqual([
        each,
        expect.arrayContaining([refusal]),
      ]);
      const listed = answer.status === 200 ? idsOf(answer.json()) : [];
      expect(ids).toEqual(expect.arrayContaining(listed));
    }
  });

  test('and limits of any text get a page or 400', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner } = workspace;
    await insertLeads(workspace, owner, 12);
    const cursor = (await page(owner, '?limit=1')).next?.searchParams.get('cursor') ?? '';
    const limit = oneOf(integer(1, 1000), integer(-2, 1100)).map((value) => `limit=${value}`);
    const sensible = tuple(limit, constantFrom(`cursor=${cursor}`, `%63ursor=${cursor}`, '')).map((parts) =>
      parts.join('&'),
    );
    let pages = 0;
    await forAll(
      oneOf(query, sensible),
      async (text) => {
        const error = expectedError(text, cursor);
        const answer = await service.send({ path: `${path}?${text}`, headers: { ...owner.headers } });
        pages += error === undefined ? 1 : 0;
        expect([text, answer.status, answer.status === 200 ? undefined : answer.json()]).toEqual([
          text,
          error === undefined ? 200 : 400,
          error,
        ]);
      },
      400,
    );
    expect(pages).toBeGreaterThan(50);
  });
});

/** Returns the error body to expect for a query string, or `undefined` if it is valid. */
function expectedError(text: string, knownCursor: string): object | undefined {
  const parameters = [...new URLSearchParams(text)];
  const names = parameters.map(([name]) => name);
  if (new Set(names).size < names.length || names.some((name) => !['limit', 'cursor'].includes(name))) {
    return invalidInput;
  }
  const { limit, cursor } = Object.fromEntries(parameters);
  if (limit !== undefined && !(/^[1-9]\d*$/.test(limit) && Number(limit) <= 1000)) return invalidInput;
  if (cursor !== undefined && (cursor === '' || Array.from(cursor).length > 2560)) return invalidInput;
  return cursor === undefined || cursor === knownCursor ? undefined : invalidCursor;
}

describe('the visibility of leads', () => {
  test('covers the whole workspace for owners and managers, and its own leads for a publisher', async () => {
    const workspace = await fixture.createWorkspace();
    const other = await fixture.createWorkspace();
    const manager = await workspace.addMember('manager');
    const publishers = [await workspace.addMember('publisher'), await workspace.addMember('publisher')];
    await insertLeads(other, other.owner, 5);
    const own = new Map<TestMember, string[]>();
    for (const member of [workspace.owner, manager, ...publishers]) {
      own.set(member, await insertLeads(workspace, member, 30, 4));
    }
    const everything = [...own.values()].flat().toSorted();
    for (const member of [workspace.owner, manager]) {
      expect(idsOf((await walk(member, 17)).flat()).toSorted()).toEqual(everything);
    }
    for (const publisher of publishers) {
      expect(idsOf((await walk(publisher, 7)).flat())).toEqual(own.get(publisher));
    }
  });

  test('is separate for each workspace of a user', async () => {
    const first = await fixture.createWorkspace();
    const second = await fixture.createWorkspace();
    const email = `${randomUUID()}@example.com`;
    const inFirst = await first.addMember('publisher', { email });
    const inSecond = await second.addMember('publisher', { email });
    expect(inFirst.userId).toBe(inSecond.userId);
    const ids = await insertLeads(first, inFirst, 3);
    expect(idsOf((await page(inFirst)).leads)).toEqual(ids);
    expect((await page(inSecond)).leads).toEqual([]);
  });
});

interface Plan {
  'Node Type': string;
  'Actual Rows': number;
  'Index Name'?: string;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

describe('the query of a page', () => {
  test('reads 1 row more than it shows, from the index and without a sort, also deep in the list', async () => {
    const workspace = await fixture.createWorkspace();
    const publisher = await workspace.addMember('publisher');
    const others = await fixture.createWorkspace();
    await insertLeads(workspace, workspace.owner, 10_000, 3);
    await insertLeads(others, others.owner, 6_000);
    await insertLeads(workspace, publisher, 4_000, 3);
    await fixture.sql('ANALYZE lead');

    for (const [member, index] of [
      [workspace.owner, 'lead_by_creation_idx'],
      [publisher, 'lead_by_user_idx'],
    ] as const) {
      const middle = await walkTo(member, 3_000);
      for (const search of ['', middle]) {
        const statements = await recordStatements(/FROM lead\b/, () => page(member, search));
        expect(statements).toHaveLength(1);
        const [statement] = statements;
        const [row] = await fixture.sql<{ 'QUERY PLAN': { Plan: Plan }[] }>(
          `EXPLAIN (ANALYZE, FORMAT JSON) ${statement?.text}`,
          statement?.values,
        );
        // A Result node and the scan of the subquery only compute the columns.
        const nodes = flatten(row?.['QUERY PLAN'][0]?.Plan).filter(
          (node) => !['Result', 'Subquery Scan'].includes(node['Node Type']),
        );
        expect(nodes.map((node) => node['Node Type'])).toEqual([
          'Limit',
          expect.stringMatching(/^Index( Only)? Scan$/),
        ]);
        expect(nodes[1]?.['Index Name']).toBe(index);
        // The additional row shows whether there is a next page.
        expect([nodes[1]?.['Actual Rows'], nodes[1]?.['Rows Removed by Filter'] ?? 0]).toEqual([101, 0]);
      }
    }
  });
});

/** Returns the query of a page that begins after `position` leads. */
async function walkTo(member: TestMember, position: number): Promise<string> {
  let search = '?limit=1000';
  for (let passed = 0; passed < position; passed += 1000)
    search = (await page(member, search)).next?.search ?? '';
  return search.replace('limit=1000', 'limit=100');
}

function flatten(plan: Plan | undefined): Plan[] {
  return plan === undefined ? [] : [plan, ...(plan.Plans ?? []).flatMap(flatten)];
}
