import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { createWebhookSecret, signWebhook } from './webhook-signature.ts';

const message = { id: 'evt_019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f_3', body: '{"name":"Ada — 東京"}' };

const mismatch = 'No matching signature found';

describe('a signed webhook', () => {
  test('has the signature of the example in the specification', () => {
    const headers = signWebhook({
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: new Date(1_614_265_330_000),
      body: '{"test": 2432232314}',
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    });
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  test('is verified by the library standardwebhooks', () => {
    const secret = createWebhookSecret();
    const headers = signWebhook({ ...message, timestamp: new Date(), secrets: [secret] });
    expect(new Webhook(secret).verify(message.body, { ...headers })).toEqual({ name: 'Ada — 東京' });
    expect(() => new Webhook(createWebhookSecret()).verify(message.body, { ...headers })).toThrow(mismatch);
    expect(() => new Webhook(secret).verify(`${message.body} `, { ...headers })).toThrow(mismatch);
    expect(() => new Webhook(secret).verify(message.body, { ...headers, 'webhook-id': 'evt_2' })).toThrow(
      mismatch,
    );
  });

  test('is verified with either secret in the middle of a rotation', () => {
    const [old, next] = [createWebhookSecret(), createWebhookSecret()];
    const headers = signWebhook({ ...message, timestamp: new Date(), secrets: [next, old] });
    expect(headers['webhook-signature']).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
    for (const secret of [old, next]) {
      expect(new Webhook(secret).verify(message.body, { ...headers })).toEqual({ name: 'Ada — 東京' });
    }
  });
});

test('a new secret is whsec_ and 32 bytes in base64, never the same', () => {
  const secrets = Array.from({ length: 100 }, createWebhookSecret);
  for (const secret of secrets) expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
  expect(new Set(secrets).size).toBe(100);
});

describe('signing fails', () => {
  const sign = (change: object) => () =>
    signWebhook({ ...message, timestamp: new Date(), secrets: [createWebhookSecret()], ...change });

  test.each(['', 'evt_1.2'])('for the id %j, which makes the signed text ambiguous', (id) => {
    expect(sign({ id })).toThrow(RangeError);
  });

  test.each([
    [[]],
    [['whsec_']],
    [['whsec_dG9vIHNob3J0']],
    [['whsec_not base64 not base64 not base64 not base']],
  ])('for the secrets %j', (secrets) => {
    expect(sign({ secrets })).toThrow(RangeError);
  });
});
