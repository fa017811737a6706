import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const website = resolve(import.meta.dirname, '..');
const built = resolve(website, 'dist');

/** A file in the manifest of the build. */
interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  /** The static imports, without dynamic ones. */
  readonly imports?: readonly string[];
}

/** Returns the size of a file in bytes with gzip, or without if the build has not compressed the file. */
export function gzippedBytes(file: string): number {
  const path = resolve(built, file);
  return statSync(existsSync(`${path}.gz`) ? `${path}.gz` : path).size;
}

/** Returns the scripts that each page loads before it shows anything, by the source file of the page. */
export function readInitialScripts(): Map<string, ReadonlySet<string>> {
  const manifest = JSON.parse(readFileSync(resolve(built, '.vite/manifest.json'), 'utf8')) as Readonly<
    Record<string, Chunk>
  >;
  const chunk = (name: string) => {
    const found = manifest[name];
    if (found === undefined) throw new Error(`The manifest of the build has no entry ${name}`);
    return found;
  };
  const entry = Object.keys(manifest).filter((name) => chunk(name).isEntry === true);
  const pages = readdirSync(join(website, 'src/pages'), { encoding: 'utf8', recursive: true })
    .filter((path) => path.endsWith('-page.tsx'))
    .map((path) => `src/pages/${path}`);
  return new Map(
    pages.map((page) => {
      const scripts = new Set<string>();
      const queue = [...entry, page];
      for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
        const { file, imports = [] } = chunk(name);
        if (scripts.has(file)) continue;
        scripts.add(file);
        queue.push(...imports);
      }
      return [page, scripts];
    }),
  );
}

/** Returns the sources of all built scripts, which the source maps name. */
export function readBuiltModules(): string[] {
  const assets = join(built, 'assets');
  return readdirSync(assets)
    .filter((name) => name.endsWith('.js.map'))
    .flatMap(
      (name) => (JSON.parse(readFileSync(join(assets, name), 'utf8')) as { sources: string[] }).sources,
    );
}
