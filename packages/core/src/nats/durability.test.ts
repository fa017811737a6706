import { expect, test } from 'vitest';
import { lossByPowerCut } from './durability.ts';

const syncing = { jetstream: { config: { sync_always: true } } };
const lazy = { jetstream: { config: { sync_interval: 120_000_000_000 } } };

test.each([
  ['nothing to say', { version: '2.10.0', replicas: 3, varz: syncing }, []],
  ['nothing that is known', { version: '2.11.4', replicas: 3 }, []],
  ['a server that cannot sync', { version: '2.9.10', replicas: 3 }, ['2.10']],
  ['a server that cannot, and says so', { version: '2.9.10', replicas: 3, varz: lazy }, ['2.10']],
  ['a server that is not told to', { version: '2.15.1', replicas: 3, varz: lazy }, ['sync_interval: always']],
  [
    'monitoring that does not answer',
    { version: '2.15.1', replicas: 3, varz: {} },
    ['sync_interval: always'],
  ],
  ['one disk', { version: '2.15.1', replicas: 1, varz: syncing }, ['cluster']],
  ['all of it', { version: '2.9.10', replicas: 1 }, ['2.10', 'cluster']],
])('%s', (_, durability, said) => {
  const reasons = lossByPowerCut(durability);
  expect(reasons).toHaveLength(said.length);
  for (const [index, words] of said.entries()) expect(reasons[index]).toContain(words);
});
