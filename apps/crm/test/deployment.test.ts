import { loadConfig } from '@leads/http/service/config';
import { createComposeEnvironments } from '@leads/test-kit/compose';
import { kustomizedSettings } from '@leads/test-kit/kustomization';
import { afterAll, expect, test } from 'vitest';
import { CommandLineSettings, DeliverSettings, NatsSetupSettings } from '../src/cli/runtime/settings.ts';
import { CrmConfig } from '../src/config.ts';

const compose = createComposeEnvironments();
afterAll(() => compose[Symbol.dispose]());

test('the CRM accepts the settings of its Kubernetes deployment', () => {
  const secrets = { DATABASE_URL: 'postgresql://leads_crm@postgres/leads', JWT_SECRET: 'x'.repeat(32) };

  const config = loadConfig(CrmConfig, { ...kustomizedSettings('crm'), ...secrets });

  expect(config).toMatchObject({ EVENTS_STREAM_REPLICAS: 3, SHUTDOWN_DELAY_MS: 10_000 });
});

test.for([
  ['crm', CrmConfig],
  ['deliver', DeliverSettings],
  ['migrate', CommandLineSettings],
  ['nats-setup', NatsSetupSettings],
] as const)(
  'the settings of the Compose service %s are valid if the operator sets no variable',
  ([service, schema]) => {
    expect(() => loadConfig(schema, compose.of(service))).not.toThrow();
  },
);
