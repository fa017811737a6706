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
} as const;
const columns = Object.keys(members) as (keyof typeof members)[];

/** The expected status by route and member. Every member may submit leads, which the member then owns. */
const matrix: Readonly<Record<string, Readonly<Record<keyof typeof members, number>>>> = {
  'POST /api/v1/leads': {
    owner: 200,
    manager: 200,
    publisher: 200,
    'publisher with an intake key': 200,
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
