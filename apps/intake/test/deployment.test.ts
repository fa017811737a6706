import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '@leads/http/service/config';
import { kustomizedSettings } from '@leads/test-kit/kustomization';
import { parseMetrics } from '@leads/test-kit/prometheus-text';
import { expect, test } from 'vitest';
import { IntakeConfig } from '../src/config.ts';
import { startIntake } from './intake.ts';

const kubernetes = join(import.meta.dirname, '../../../docker/kubernetes');

test('the service starts with the settings that it has in Kubernetes', () => {
  const secrets = { DATABASE_URL: 'postgresql://leads_intake@postgres/leads' };

  const config = loadConfig(IntakeConfig, { ...kustomizedSettings('intake'), ...secrets });

  expect(config).toMatchObject({ INTAKE_BUFFER_REPLICAS: 3, SHUTDOWN_DELAY_MS: 10_000 });
});

test('pods have no more connections to Postgres than the kustomization says', () => {
  const text = readFileSync(join(kubernetes, 'base/kustomization.yaml'), 'utf8');
  const pods = Number(
    /maxReplicas: (\d+)/.exec(readFileSync(join(kubernetes, 'base/intake.yaml'), 'utf8'))?.[1],
  );
  const { DATABASE_POOL_SIZE, INTAKE_WORKERS } = kustomizedSettings('intake');

  const connections = pods * Number(DATABASE_POOL_SIZE) * Number(INTAKE_WORKERS);

  expect(text).toContain(`At most ${pods} pods (intake.yaml) have ${connections} connections.`);
});

test('the autoscaler asks for a metric that the service has', async () => {
  await using intake = await startIntake();
  const { text } = await intake.service.send({ path: '/metrics' });
  const manifest = readFileSync(join(kubernetes, 'base/intake.yaml'), 'utf8');

  const asked = [...manifest.matchAll(/metric: \{ name: (\w+) \}/g)].map(([, name = '']) => name);

  expect(asked).toHaveLength(1);
  expect([...parseMetrics(text).families.keys()]).toEqual(expect.arrayContaining(asked));
});
