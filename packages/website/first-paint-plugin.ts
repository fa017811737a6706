import { resolve } from 'node:path';
import { build, type Plugin, type Rolldown } from 'vite';

/** The pages whose files the document preloads, by their name in `src/first-paint.ts`. */
export const firstPages = {
  leads: 'src/pages/leads/leads-page.tsx',
  overview: 'src/pages/overview/overview-page.tsx',
  campaigns: 'src/pages/campaigns/campaigns-page.tsx',
  statements: 'src/pages/statements/statements-page.tsx',
};

/**
 * Puts the script `src/first-paint.ts` into the document, with the names of the files of the pages. The script is
 * before all other files of the document, because a script waits for the styles before it.
 */
export function firstPaint(): Plugin {
  return {
    name: 'first-paint',
    transformIndexHtml: {
      order: 'post',
      async handler(html, { bundle = {} }) {
        const filesByPage = Object.entries(firstPages).map(([name, source]): [string, string[]] => [
          name,
          filesOf(bundle, source)
            .map((file) => `/${file}`)
            .filter((file) => !html.includes(file)),
        ]);
        const code = await compile(Object.fromEntries(filesByPage));
        return html.replace(/ *<script/, (first) => `    <script>${code}</script>\n${first}`);
      },
    },
  };
}

/** Returns the names of the scripts and styles that a page needs, without those of its dynamic imports. */
export function filesOf(bundle: Rolldown.OutputBundle, source: string): string[] {
  const path = resolve(import.meta.dirname, source);
  const found = new Set<string>();
  const queue = Object.values(bundle)
    .filter((file) => file.type === 'chunk' && file.facadeModuleId === path)
    .map(({ fileName }) => fileName);
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const chunk = bundle[name];
    if (chunk?.type !== 'chunk' || found.has(name)) continue;
    found.add(name);
    for (const style of chunk.viteMetadata?.importedCss ?? []) found.add(style);
    queue.push(...chunk.imports);
  }
  return [...found];
}

/** Compiles the script, with the files of the pages, into one line without imports. */
async function compile(pageFiles: Readonly<Record<string, readonly string[]>>): Promise<string> {
  const built = await build({
    configFile: false,
    root: import.meta.dirname,
    logLevel: 'warn',
    define: { pageFiles: JSON.stringify(pageFiles) },
    build: {
      write: false,
      copyPublicDir: false,
      target: 'es2022',
      rolldownOptions: {
        input: resolve(import.meta.dirname, 'src/first-paint.ts'),
        output: { format: 'iife' },
      },
    },
  });
  const [{ output }] = [built].flat() as [Rolldown.RolldownOutput];
  return output[0].code.trim();
}
