import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const website = resolve(import.meta.dirname, '..');
const built = resolve(website, 'dist');

/** A file of the manifest that the build writes, by what it was built from. */
interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  /** What it imports by itself, not when something happens. */
  readonly imports?: readonly string[];
}

/** How many bytes a file has on its way to a browser that knows gzip; what that makes no smaller is sent as it is. */
export function gzippedBytes(file: string): number {
  const path = resolve(built, file);
  return statSync(existsSync(`${path}.gz`) ? `${path}.gz` : path).size;
}

/** The scripts without which a page shows nothing, for each page of the website by its source. */
export function readInitialScripts(): Map<string, ReadonlySet<string>> {
  const manifest = JSON.parse(readFileSync(resolve(built, '.vite/manifest.json'), 'utf8')) as Readonly<
    Record<string, Chunk>
  >;
  const chunk = (name: string) => {
    const found = manifest[name];
    if (found === undefined) throw new Error(`The build has nothing of ${name}`);
    return found;
  };
  const entry = Object.keys(manifest).filter((name) => chunk(name).isEntry === true);
  const pages = readdirSync(join(website, 'src/pages'), { encoding: 'utf8', recursive: true })
    .filter((path) => path.endsWith('-page.tsx'))
    .map((path) => `src/pages/${path}`);
  return new Map(
    pages.map((page) => {
      const scripts = new Set<string>();
      const left = [...entry, page];
      for (let name = left.pop(); name !== undefined; name = left.pop()) {
        const { file, imports = [] } = chunk(name);
        if (scripts.has(file)) continue;
        scripts.add(file);
        left.push(...imports);
      }
      return [page, scripts];
    }),
  );
}
