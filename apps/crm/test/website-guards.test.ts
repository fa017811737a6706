import { fillPath } from '@leads/test-kit/openapi-document';
import { afterAll, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { openRoutes, signedInRoutesOf, websiteRoutesOf } from './website-routes.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service } = crm;

const own = { Origin: `http://127.0.0.1:${service.port}` };
const strangers = {
  success: false,
  error: 'unauthorized',
  message: 'Requests from other sites are rejected',
};
const signedOut = { success: false, error: 'unauthorized', message: 'You are not signed in' };

const routes = await websiteRoutesOf(service);

test('there are such routes', () => {
  expect(routes.length).toBeGreaterThan(40);
  for (const each of openRoutes)
    expect(routes.map(({ method, path }) => `${method} ${path}`)).toContain(each);
});

test('the routes below /api/console that declare themselves public are those that are listed here', () => {
  const open = routes.filter(
    ({ path, permission }) => path.startsWith('/api/console/') && permission === 'public',
  );
  expect(new Set(open.map(({ method, path }) => `${method} ${path}`))).toEqual(openRoutes);
});

test.for(routes)('$method $path: a page of another site is told nothing', async ({ method, path }) => {
  for (const site of ['cross-site', 'same-site']) {
    const answer = await service.send({
      method,
      path: fillPath(path),
      headers: { ...own, 'Sec-Fetch-Site': site },
    });
    expect([answer.status, answer.json()]).toEqual([403, strangers]);
  }
});

const changing = routes.filter(({ method }) => method !== 'GET');
test.for(changing)('$method $path: a page of another site changes nothing', async ({ method, path }) => {
  for (const headers of [
    {},
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { Origin: `${own.Origin}0` },
  ]) {
    const answer = await service.send({
      method,
      path: fillPath(path),
      headers,
      ...(method !== 'DELETE' && { body: {} }),
    });
    expect([answer.status, answer.json()]).toEqual([403, strangers]);
  }
});

test.for(await signedInRoutesOf(service))(
  '$method $path: nothing for who is not signed in',
  async ({ method, path }) => {
    const { owner } = await crm.fixture.createWorkspace();
    for (const headers of [
      own,
      // What integrators come with counts nothing here.
      { ...own, ...owner.headers },
      { ...own, Cookie: 'leads.session_token=abc.def' },
    ]) {
      const answer = await service.send({ method, path: fillPath(path), headers });
      expect([answer.status, answer.json()]).toEqual([401, signedOut]);
    }
  },
);
