import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/**
 * The build context of an image: the files of a folder without those that its .dockerignore excludes.
 *
 * @throws Error for a pattern other than a path or a name at any depth.
 */
export class BuildContext {
  readonly #directory: string;
  readonly #ignored: RegExp[];

  constructor(directory: string) {
    this.#directory = directory;
    this.#ignored = readFileSync(join(directory, '.dockerignore'), 'utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map(asExpression);
  }

  /** Returns the path of a file or folder of the context. @throws Error if it is excluded. */
  path(source: string): string {
    const path = join(this.#directory, source);
    if (this.isIgnored(path)) throw new Error(`${source} is excluded by .dockerignore`);
    return path;
  }

  isIgnored(path: string): boolean {
    const name = relative(this.#directory, path).split(sep).join('/');
    return name !== '' && this.#ignored.some((expression) => expression.test(name));
  }
}

function asExpression(pattern: string): RegExp {
  const [, anywhere = '', path = ''] = /^(\*\*\/)?([\w./-]+)$/.exec(pattern) ?? [];
  if (path === '') throw new Error(`.dockerignore: unsupported pattern ${pattern}`);
  return new RegExp(`^${anywhere === '' ? '' : '(?:.*/)?'}${path.replaceAll('.', '\\.')}(?:/|$)`);
}
