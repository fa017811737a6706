import { expect, test } from 'vitest';
import { powerCutRisks } from './durability.ts';

const syncing = { jetstream: { config: { sync_always: true } } };
const lazy = { jetstream: { config: { sync_interval: 120_000_000_000 } } };

test.each([
  ['a durable cluster has no reason', { version: '2.10.0', replicas: 3, varz: syncing }, []],
  ['unknown monitoring is no reason', { version: '2.11.4', replicas: 3 }, []],
  ['nats-server before 2.10 is a reason', { version: '2.9.10', replicas: 3 }, ['2.10']],
  [
    'nats-server before 2.10 is one reason, even if monitoring shows no sync',
    { version: '2.9.10', replicas: 3, varz: lazy },
    ['2.10'],
  ],
  [
    'a missing sync_interval is a reason',
    { version: '2.15.1', replicas: 3, varz: lazy },
    ['sync_interval: always'],
  ],
  [
    'monitoring without sync_always is a reason',
    { version: '2.15.1', replicas: 3, varz: {} },
    ['sync_interval: always'],
  ],
  ['a single replica is a reason', { version: '2.15.1', replicas: 1, varz: syncing }, ['cluster']],
  [
    'an old server with a single replica has two reasons',
    { version: '2.9.10', replicas: 1 },
    ['2.10', 'cluster'],
  ],
])('%s for losing leads in a power cut', (_, durability, expected) => {
  const reasons = powerCutRisks(durability);
  expect(reasons).toHaveLength(expected.length);
  for (const [index, words] of expected.entries()) expect(reasons[index]).toContain(words);
});
