import { personalData } from '@leads/test-kit/log-check/confidential';
import { describeNetworks } from '@leads/test-kit/suites/networks';
import { afterAll } from 'vitest';
import { startIntake } from './intake.ts';

const [proxied, direct] = [
  await startIntake({ TRUST_PROXY: 'loopback', INTAKE_SECRET_KEY_REQUESTS_PER_MINUTE: '1000' }),
  await startIntake(),
];
afterAll(async () => {
  await proxied[Symbol.asyncDispose]();
  await direct[Symbol.asyncDispose]();
});

const { name, phone } = personalData;
describeNetworks(proxied, direct, { path: '/api/v1/leads', body: { name, phone } });
