import { singleScopes } from '@leads/core/credential';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { guardedRoutesOf } from '@leads/test-kit/openapi-document';
import { afterAll, describe, expect, test } from 'vitest';
import { startIntake } from './intake.ts';

const intake = await startIntake();
afterAll(() => intake[Symbol.asyncDispose]());
const { service, fixture } = intake;
const workspace = await fixture.createWorkspace();
const members = {
  owner: workspace.owner,
  manager: await workspace.addMember('manager'),
  publisher: await workspace.addMember('publisher'),
  'publisher with an intake key': await workspace.addMember('publisher', { scope: 'intake' }),
  'publisher with a key of the scope leads:write': await workspace.addMember('publisher', {
    scope: ['leads:write'],
  }),
} as const;
const columns = Object.keys(members) as (keyof typeof members)[];

/** The expected status by route and member. Every member may submit leads, which the member then owns. */
const matrix: Readonly<Record<string, Readonly<Record<keyof typeof members, number>>>> = {
  'POST /api/v1/leads': {
    owner: 200,
    manager: 200,
    publisher: 200,
    'publisher with an intake key': 200,
    'publisher with a key of the scope leads:write': 200,
  },
};

test('the role matrix has exactly the guarded routes', () => {
  const guarded = guardedRoutesOf(service.document).map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys(matrix).toSorted()).toEqual(guarded.toSorted());
});

describe.each(Object.keys(matrix))('%s', (name) => {
  test.each(columns)('answers a member with the status of the matrix: %s', async (column) => {
    const [method = '', path = ''] = name.split(' ');
    const { apiKey, userId } = members[column];
    const answer = await service.send({
      method,
      path,
      headers: { API_KEY: apiKey },
      body: { name: personalData.name, phone: personalData.phone },
    });
    expect(answer.status).toBe(matrix[name]?.[column]);
    const { order_id: id } = answer.json<{ order_id: string }>();
    expect(await fixture.sql('SELECT user_id FROM lead WHERE id = $1', [id])).toEqual([{ user_id: userId }]);
  });
});

test('every guarded route documents its scope', () => {
  for (const { operation } of guardedRoutesOf(service.document)) {
    expect(operation.security).toEqual([{ ApiKey: ['intake'] }, { BrowserKey: ['intake'] }]);
    expect(operation).toMatchObject({ description: expect.stringContaining('`intake` or `leads:write`') });
  }
});

test.each(singleScopes.filter((scope) => scope !== 'leads:write'))(
  'rejects a key of the scope %s with 403, also of an owner',
  async (scope) => {
    const { apiKey } = await workspace.addMember('owner', { scope: [scope] });
    const answer = await service.send({
      method: 'POST',
      path: '/api/v1/leads',
      headers: { API_KEY: apiKey },
      body: { name: personalData.name, phone: personalData.phone },
    });
    expect([answer.status, answer.json()]).toEqual([
      403,
      {
        success: false,
        error: 'unauthorized',
        message: 'This API key does not have the scope leads:write',
      },
    ]);
  },
);
