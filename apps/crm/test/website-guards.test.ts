import { fillPath } from '@leads/test-kit/openapi-document';
import { afterAll, expect, test } from 'vitest';
import { startCrm, startCrmService } from './crm.ts';
import { openRoutes, signedInRoutesOf, websiteRoutesOf } from './website-routes.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service } = crm;

const own = { Origin: `http://127.0.0.1:${service.port}` };
const crossSite = {
  success: false,
  error: 'unauthorized',
  message: 'Requests from other sites are rejected',
};
const signedOut = { success: false, error: 'unauthorized', message: 'You are not signed in' };

const routes = await websiteRoutesOf(service);

test('the website has more than 40 routes, including all routes without a session', () => {
  expect(routes.length).toBeGreaterThan(40);
  for (const each of openRoutes)
    expect(routes.map(({ method, path }) => `${method} ${path}`)).toContain(each);
});

test('the public routes below /api/console are exactly the listed routes', () => {
  const open = routes.filter(
    ({ path, permission }) => path.startsWith('/api/console/') && permission === 'public',
  );
  expect(new Set(open.map(({ method, path }) => `${method} ${path}`))).toEqual(openRoutes);
});

test.for(routes)('$method $path rejects a page of another site with 403', async ({ method, path }) => {
  for (const site of ['cross-site', 'same-site']) {
    const answer = await service.send({
      method,
      path: fillPath(path),
      headers: { ...own, 'Sec-Fetch-Site': site },
    });
    expect([answer.status, answer.json()]).toEqual([403, crossSite]);
  }
});

const changing = routes.filter(({ method }) => method !== 'GET');
test.for(changing)('$method $path rejects a change from another site with 403', async ({ method, path }) => {
  for (const headers of [
    {},
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: `${own.Origin}0` },
    { Origin: own.Origin.replace('http:', 'https:') },
  ]) {
    const answer = await service.send({
      method,
      path: fillPath(path),
      headers,
      ...(method !== 'DELETE' && { body: {} }),
    });
    expect([answer.status, answer.json()]).toEqual([403, crossSite]);
  }
});

test.for(await signedInRoutesOf(service))(
  '$method $path rejects a request without a session with 401',
  async ({ method, path }) => {
    const { owner } = await crm.fixture.createWorkspace();
    for (const headers of [
      own,
      // The credentials of the public API are not valid here.
      { ...own, ...owner.headers },
      { ...own, Cookie: 'leads.session_token=abc.def' },
    ]) {
      const answer = await service.send({ method, path: fillPath(path), headers });
      expect([answer.status, answer.json()]).toEqual([401, signedOut]);
    }
  },
);

test('a sign-in at the public origin is accepted however PUBLIC_URL spells the origin', async () => {
  for (const [PUBLIC_URL, origin] of [
    ['https://Leads.EXAMPLE:443', 'https://leads.example'],
    ['https://l\u00e4ds.example', 'https://xn--lds-qla.example'],
  ] as const) {
    await using running = await startCrmService(crm.databaseUrl, { PUBLIC_URL });
    // The proxy ends TLS, so the service sees http.
    const headers = { Host: new URL(origin).host, Origin: origin };
    const body = { email: 'nobody@example.com', password: 'a wrong password' };
    const path = '/api/auth/sign-in/email';
    expect((await running.send({ method: 'POST', path, headers, body })).status).toBe(401);
  }
});
