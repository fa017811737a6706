import react from '@vitejs/plugin-react';
import { build, type Plugin, type Rolldown } from 'vite';
import { filesOf, firstPages } from './first-paint-plugin.ts';

/**
 * Groups the modules that the first pages share with other pages into one file. Without it, a page needs 29 files, and
 * most wait for one of the browser's 6 connections. Over 1.6 Mbit/s and 150 ms, the list is painted 150 ms earlier.
 *
 * Only a build shows which modules of a library a page needs, so this plugin builds the pages twice.
 */
export function groupSharedModules(): Plugin {
  return {
    name: 'group-shared-modules',
    apply: 'build',
    async config() {
      const shared = await findSharedModules();
      return {
        build: {
          rolldownOptions: {
            output: { codeSplitting: { groups: [{ name: 'shared', test: (id) => shared.has(id) }] } },
          },
        },
      };
    },
  };
}

/** Returns the modules in the files of the first pages, without the modules that only one page or the entry needs. */
async function findSharedModules(): Promise<ReadonlySet<string>> {
  const built = await build({
    configFile: false,
    root: import.meta.dirname,
    logLevel: 'warn',
    plugins: [react()],
    build: { write: false, copyPublicDir: false, minify: false, target: 'es2022' },
  });
  const [{ output }] = [built].flat() as [Rolldown.RolldownOutput];
  const bundle: Rolldown.OutputBundle = Object.fromEntries(output.map((file) => [file.fileName, file]));
  const modules = Object.values(firstPages)
    .flatMap((source) => filesOf(bundle, source))
    .flatMap((name) => {
      const file = bundle[name];
      return file?.type === 'chunk' && file.facadeModuleId === null ? file.moduleIds : [];
    });
  // The order of the styles must not change, because later styles override earlier ones.
  return new Set(modules.filter((id) => !id.includes('.css')));
}
