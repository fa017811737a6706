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
    setupFiles: resolve(root, 'packages/test-kit/src/vitest-discretion.ts'),
    env: { NODE_ENV: 'test' },
    pool: 'forks',
    // A third saves two minutes of seventeen, and makes benches and browsers wait for each other.
    maxWorkers: 2,
    // Loading the same modules for each file anew took a tenth of the run. Each puts back what it has replaced.
    isolate: false,
    // For machines that have much else to do: what waits in vain is found all the same.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    reporters: 'default',
  },
});
