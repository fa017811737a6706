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
  'a publisher whose key is for the intake': await workspace.addMember('publisher', { scope: 'intake' }),
} as const;
const columns = Object.keys(members) as (keyof typeof members)[];

/** Who may do what: everyone may submit, each for itself. */
const matrix: Readonly<Record<string, Readonly<Record<keyof typeof members, number>>>> = {
  'POST /api/v1/leads': {
    owner: 200,
    manager: 200,
    publisher: 200,
    'a publisher whose key is for the intake': 200,
  },
};

test('every route that is guarded stands in the table, and nothing else does', () => {
  const guarded = guardedRoutesOf(service.document).map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys(matrix).toSorted()).toEqual(guarded.toSorted());
});

describe.each(Object.keys(matrix))('%s', (name) => {
  test.each(columns)('%s', async (column) => {
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
