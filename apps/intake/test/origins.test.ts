import { issueApiKey } from '@leads/core/credential';
import { afterAll, expect, test } from 'vitest';
import { startIntake } from './intake.ts';

const intake = await startIntake();
afterAll(() => intake[Symbol.asyncDispose]());
const { service, fixture } = intake;
const { owner } = await fixture.createWorkspace();

const send = (apiKey: string, headers: Record<string, string>) =>
  service.send({
    method: 'POST',
    path: '/api/v1/leads',
    headers: { API_KEY: apiKey, ...headers },
    body: { name: 'Ada', phone: '+1 202 555 0143' },
  });

test('a key that is bound to origins is taken from their pages only', async () => {
  const { apiKey } = await issueApiKey(fixture.credentials, owner, {
    name: 'In a page',
    scope: 'intake',
    allowedOrigins: ['https://offer.example', 'http://localhost:8080'],
  });
  for (const origin of ['https://offer.example', 'http://localhost:8080']) {
    expect((await send(apiKey, { Origin: origin })).status).toBe(200);
  }
  for (const headers of [
    {},
    { Origin: 'https://evil.example' },
    { Origin: 'http://offer.example' },
    { Origin: 'https://offer.example.evil.example' },
    { Origin: 'null' },
  ]) {
    const answer = await send(apiKey, headers);
    expect([answer.status, answer.json()]).toEqual([
      403,
      { success: false, error: 'unauthorized', message: 'This API key is for other web pages' },
    ]);
  }
});

test('a key that is bound to none does not care', async () => {
  expect((await send(owner.apiKey, { Origin: 'https://anywhere.example' })).status).toBe(200);
});
