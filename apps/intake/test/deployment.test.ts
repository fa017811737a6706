import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '@leads/http/service/config';
import { createComposeEnvironments } from '@leads/test-kit/compose';
import { kustomizedSettings } from '@leads/test-kit/kustomization';
import { parseMetrics } from '@leads/test-kit/prometheus-text';
import { expect, test } from 'vitest';
import { IntakeConfig } from '../src/config.ts';
import { startIntake } from './intake.ts';

const kubernetes = join(import.meta.dirname, '../../../docker/kubernetes');

test('loads the configuration with the settings of the Kubernetes manifests', () => {
  const secrets = { DATABASE_URL: 'postgresql://leads_intake@postgres/leads' };

  const config = loadConfig(IntakeConfig, { ...kustomizedSettings('intake'), ...secrets });

  expect(config).toMatchObject({ INTAKE_BUFFER_REPLICAS: 3, SHUTDOWN_DELAY_MS: 10_000 });
});

test('loads the configuration with the settings of the Compose service, which serves the host that the CRM calls', () => {
  using compose = createComposeEnvironments();

  const hostsOf = (variables?: Record<string, string>) =>
    loadConfig(IntakeConfig, compose.of('intake', variables)).SERVED_HOSTS;

  expect(hostsOf()).toBe('intake');
  expect(hostsOf({ SERVED_HOSTS: 'leads.internal,10.0.0.7' })).toBe('intake,leads.internal,10.0.0.7');
});

test('the kustomization states the maximum of pods and their connections to Postgres', () => {
  const text = readFileSync(join(kubernetes, 'base/kustomization.yaml'), 'utf8');
  const pods = Number(
    /maxReplicas: (\d+)/.exec(readFileSync(join(kubernetes, 'base/intake.yaml'), 'utf8'))?.[1],
  );
  const { DATABASE_POOL_SIZE, INTAKE_WORKERS } = kustomizedSettings('intake');

  const connections = pods * Number(DATABASE_POOL_SIZE) * Number(INTAKE_WORKERS);

  expect(text).toContain(`The maximum of ${pods} pods (intake.yaml) opens ${connections} connections.`);
});

test('the autoscaler uses a metric that the service exports', async () => {
  await using intake = await startIntake();
  const { text } = await intake.service.send({ path: '/metrics' });
  const manifest = readFileSync(join(kubernetes, 'base/intake.yaml'), 'utf8');

  const metricNames = [...manifest.matchAll(/metric: \{ name: (\w+) \}/g)].map(([, name = '']) => name);

  expect(metricNames).toHaveLength(1);
  expect([...parseMetrics(text).families.keys()]).toEqual(expect.arrayContaining(metricNames));
});
