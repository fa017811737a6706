import { loadConfig } from '@leads/http/service/config';
import { createComposeEnvironments } from '@leads/test-kit/compose';
import { kustomizedSettings } from '@leads/test-kit/kustomization';
import { afterAll, expect, test } from 'vitest';
import {
  CommandLineSettings,
  DeliverSettings,
  DeliverySettings,
  NatsSetupSettings,
} from '../src/cli/runtime/settings.ts';
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

test('the Compose services crm, deliver and migrate have the same settings of deliveries, as a rotation of DELIVERIES_SECRET needs', () => {
  const variables = {
    DELIVERIES_PREVIOUS_SECRET: 'p'.repeat(32),
    DELIVERIES_ALLOW_HTTP: 'true',
    DELIVERIES_ALLOW_NETWORKS: '10.0.0.0/8',
    DELIVERIES_PROXY_URL: 'http://proxy.example:3128',
  };

  for (const service of ['crm', 'deliver', 'migrate']) {
    const settings = loadConfig(DeliverySettings, compose.of(service, variables));

    expect(settings, service).toEqual({
      ...variables,
      DELIVERIES_SECRET: expect.any(String),
      DELIVERIES_ALLOW_HTTP: true,
    });
  }
});
