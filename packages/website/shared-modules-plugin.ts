import react from '@vitejs/plugin-react';
import { build, type Plugin, type Rolldown } from 'vite';
import { filesOf, firstPages } from './first-paint-plugin.ts';

/**
 * Groups the modules that a first page shares with other pages into one file for each first page. A file has no module of
 * an earlier one. Without it, a page needs 29 files, and most wait for one of the browser's 6 connections. Over 1.6 Mbit/s
 * and 150 ms, the list is painted 150 ms earlier.
 *
 * Only a build shows which modules of a library a page needs, so this plugin builds the pages twice.
 */
export function groupSharedModules(): Plugin {
  return {
    name: 'group-shared-modules',
    apply: 'build',
    async config() {
      const shared = await findSharedModules();
      const groups = shared.map(({ page, modules }, index) => ({
        name: `shared-${page}`,
        test: (id: string) => modules.has(id),
        priority: shared.length - index,
        // Else the later groups take modules of the entry, and each page loads every group.
        includeDependenciesRecursively: index === 0,
      }));
      return { build: { rolldownOptions: { output: { codeSplitting: { groups } } } } };
    },
  };
}

/** Returns the modules in the files of each first page, without the modules that only one page or the entry needs. */
async function findSharedModules() {
  const built = await build({
    configFile: false,
    root: import.meta.dirname,
    logLevel: 'warn',
    plugins: [react()],
    build: { write: false, copyPublicDir: false, minify: false, target: 'es2022' },
  });
  const [{ output }] = [built].flat() as [Rolldown.RolldownOutput];
  const bundle: Rolldown.OutputBundle = Object.fromEntries(output.map((file) => [file.fileName, file]));
  return Object.entries(firstPages).map(([page, source]) => {
    const modules = filesOf(bundle, source).flatMap((name) => {
      const file = bundle[name];
      return file?.type === 'chunk' && file.facadeModuleId === null ? file.moduleIds : [];
    });
    // The order of the styles must not change, because later styles override earlier ones.
    return { page, modules: new Set(modules.filter((id) => !id.includes('.css'))) };
  });
}
