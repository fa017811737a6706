import { readFileSync } from 'node:fs';
import { describeProblems } from '@leads/local-stack/testing/problem-suite';
import { afterAll, expect, test } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());

await describeProblems(crm);

test('spec 2.1, 7: an email address is told how it has to end', async () => {
  const { owner } = await crm.fixture.createWorkspace();
  const answer = await crm.service.send({
    method: 'POST',
    path: '/api/v1/order/leads',
    headers: { ...owner.headers, Accept: 'application/problem+json' },
    body: { campaignCode: 'DEMO', name: 'Ada Lovelace', phone: '1', email: 'ada@example.com' },
  });
  expect(answer.json<{ errors: object[] }>().errors).toEqual([
    { pointer: '#/email', detail: expect.stringMatching(/must end in `?\.io/) },
  ]);
});

test('the README shows what is answered', async () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
  const [, body, expected = ''] = /`(\{[^`]+\})` is answered with:\n\n```json\n(.*?)```/s.exec(readme) ?? [];
  const { owner } = await crm.fixture.createWorkspace();
  const answer = await crm.service.send({
    method: 'POST',
    path: '/api/v1/order/leads',
    headers: {
      ...owner.headers,
      'Content-Type': 'application/json',
      Accept: 'application/problem+json',
      'X-Request-Id': /urn:request:([\w.-]+)/.exec(expected)?.[1] ?? '',
    },
    body,
  });
  expect(answer.json()).toEqual(JSON.parse(expected));
});
