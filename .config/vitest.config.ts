import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = resolve(import.meta.dirname, '..');

// Packages are tested from their sources, which they export under this condition.
const fromSource = { resolve: { conditions: ['leads-source'] } };

/** Those that take longest come first, so that no process is left with one of them in the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => moduleId.includes('/packages/bench/test/');
    // oxlint-disable-next-line unicorn/no-array-sort -- it is not one of arrays, and answers with a new one
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  root,
  ...fromSource,
  ssr: fromSource,
  // Where Vitest runs the global set-up, which inherits neither of the two above.
  environments: { __vitest__: fromSource },
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'apps/*/{src,test}/**/*.test.ts'],
    globalSetup: resolve(root, 'packages/local-stack/src/vitest-setup.ts'),
    setupFiles: resolve(root, 'packages/local-stack/src/vitest-discretion.ts'),
    env: { NODE_ENV: 'test' },
    pool: 'forks',
    // Of two cores a third was idle with two: much of what is tested is time that passes.
    maxWorkers: 3,
    // Loading the same modules for each file anew took a tenth of the run.
    isolate: false,
    restoreMocks: true,
    unstubEnvs: true,
    // For machines that have much else to do: what waits in vain is found all the same.
    testTimeout: 90_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    sequence: { sequencer: LongestFirst },
    reporters: 'default',
  },
});
