import { randomUUID } from 'node:crypto';
import type { Overview } from '@leads/core/overview';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Crm, startCrm } from './crm.ts';

let crm: Crm;
let cookie: string;
beforeAll(async () => {
  crm = await startCrm();
  cookie = await signUp();
});
afterAll(() => crm?.[Symbol.asyncDispose]());

// Uses fetch, because the client of the service supports only the documented API.
const send = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${crm.service.port}${path}`, init);
const getOverview = (query: string, headers: Record<string, string>) =>
  send(`/api/console/overview?${query}`, { headers });

/** Signs up a user with a new workspace, as the website does. Returns the cookie. */
async function signUp(): Promise<string> {
  const answer = await send('/api/auth/sign-up/email', {
    method: 'POST',
    headers: { Origin: `http://127.0.0.1:${crm.service.port}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      name: 'Ada',
      email: `${randomUUID()}@example.com`,
      password: 'correct horse battery',
    }),
  });
  expect(answer.status).toBe(200);
  return answer.headers
    .getSetCookie()
    .map((each) => each.split(';', 1)[0])
    .join('; ');
}

test('GET /overview answers 401 without a session', async () => {
  expect((await getOverview('from=2026-01-01&to=2026-01-31', {})).status).toBe(401);
});

test('GET /overview returns zero counts for a new workspace', async () => {
  const workspace = await crm.fixture.createWorkspace();
  await crm.fixture.leads.insert([
    workspace.lead(workspace.owner, { createdAt: new Date('2026-03-29T10:00:00Z') }),
  ]);
  const answer = await getOverview('from=2026-03-29&to=2026-03-29&zone=Europe/Berlin', { Cookie: cookie });
  expect(answer.status).toBe(200);
  const overview = (await answer.json()) as Overview;
  expect(overview).toMatchObject({
    from: '2026-03-28T23:00:00.000Z',
    to: '2026-03-29T22:00:00.000Z',
    unit: 'hour',
    total: { total: 0, approveRate: null, approveRateWithoutTrash: null },
    previous: { from: '2026-03-27T23:00:00.000Z', to: '2026-03-28T23:00:00.000Z', total: 0 },
    campaigns: [],
  });
  expect(overview.steps).toHaveLength(23);
});

test.each([
  ['from=2026-01-02&to=2026-01-01', 'to'],
  ['from=2010-01-01&to=2026-01-01', 'to'],
  ['from=2026-01-01&to=2026-01-01&zone=Nowhere/Land', 'zone'],
  ['from=2026-01-01&to=2026-01-01&zone=%00', 'zone'],
  ['from=2026-02-30&to=2026-03-01', 'from'],
  ['from=today&to=2026-03-01', 'from'],
  ['from=0000-01-01&to=0000-01-02', 'from'],
  ['to=2026-03-01', 'from'],
  ['from=2026-03-01', 'to'],
  ['from=2026-03-01&to=2026-03-01&range=7d', 'range'],
])('GET /overview rejects %s with 400 and names %s', async (query, parameter) => {
  const answer = await getOverview(query, { Cookie: cookie, Accept: 'application/problem+json' });
  expect(answer.status).toBe(400);
  const { errors } = (await answer.json()) as { errors: { parameter: string }[] };
  expect(errors.map((error) => error.parameter)).toContain(parameter);
});
