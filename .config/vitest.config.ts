import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

const root = resolve(import.meta.dirname, '..');

// Packages are tested from their sources, which they export under this condition.
const fromSource = { resolve: { conditions: ['leads-source'] } };

export default defineConfig({
  root,
  ...fromSource,
  ssr: fromSource,
  // Where Vitest runs the global set-up, which inherits neither of the two above.
  environments: { __vitest__: fromSource },
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'apps/*/{src,test}/**/*.test.ts'],
    globalSetup: resolve(root, 'packages/test-kit/src/vitest-setup.ts'),
    setupFiles: resolve(root, 'packages/test-kit/src/log-check/vitest-log-check.ts'),
    env: { NODE_ENV: 'test' },
    pool: 'forks',
    // More workers than processors, because many tests wait for timers and processes: 3 workers use 82 % of 2
    // processors. Another worker takes about 5 s of processor time to load the modules.
    maxWorkers: availableParallelism() * 2,
    // Loading the same modules again for each file took 10 % of the run. A test file restores what it replaces.
    isolate: false,
    // They only end tests that hang, also on a busy machine.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: 'default',
  },
});
