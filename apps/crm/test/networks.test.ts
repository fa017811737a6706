import { personalData } from '@leads/test-kit/log-check/confidential';
import { describeNetworks } from '@leads/test-kit/suites/networks';
import { afterAll, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { leadsPath } from './leads-api.ts';

const [proxied, direct] = [await startCrm({ TRUST_PROXY: 'loopback' }), await startCrm()];
afterAll(async () => {
  await proxied[Symbol.asyncDispose]();
  await direct[Symbol.asyncDispose]();
});

const { name, phone } = personalData;
describeNetworks(proxied, direct, { path: leadsPath, body: { campaignCode: 'DEMO', name, phone } });

test('a key that is bound to other networks is 401 without a valid access token', async () => {
  const workspace = await proxied.fixture.createWorkspace();
  const { apiKey } = await workspace.addMember('owner', { allowedNetworks: ['203.0.113.7'] });
  const { accessToken } = await workspace.addMember('owner');
  for (const headers of [{}, { Authorization: `Bearer ${accessToken}` }]) {
    const answer = await proxied.service.send({ path: leadsPath, headers: { API_KEY: apiKey, ...headers } });
    expect(answer.status).toBe(401);
  }
});
