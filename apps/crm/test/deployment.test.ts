import { loadConfig } from '@leads/http/service/config';
import { kustomizedSettings } from '@leads/test-kit/kustomization';
import { expect, test } from 'vitest';
import { CrmConfig } from '../src/config.ts';

test('the CRM accepts the settings of its Kubernetes deployment', () => {
  const secrets = { DATABASE_URL: 'postgresql://leads_crm@postgres/leads', JWT_SECRET: 'x'.repeat(32) };

  const config = loadConfig(CrmConfig, { ...kustomizedSettings('crm'), ...secrets });

  expect(config).toMatchObject({ EVENTS_STREAM_REPLICAS: 3, SHUTDOWN_DELAY_MS: 10_000 });
});
