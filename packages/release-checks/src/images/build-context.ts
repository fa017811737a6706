import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/**
 * What an image is built from: the files of a folder but those that its .dockerignore names.
 *
 * @throws Error for patterns of other forms than a path and a name at any depth.
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

  /** Where a file or folder of it is. @throws Error for one that is left out. */
  path(source: string): string {
    const path = join(this.#directory, source);
    if (this.isIgnored(path)) throw new Error(`${source} is left out by .dockerignore`);
    return path;
  }

  isIgnored(path: string): boolean {
    const name = relative(this.#directory, path).split(sep).join('/');
    return name !== '' && this.#ignored.some((expression) => expression.test(name));
  }
}

function asExpression(pattern: string): RegExp {
  const [, anywhere = '', path = ''] = /^(\*\*\/)?([\w./-]+)$/.exec(pattern) ?? [];
  if (path === '') throw new Error(`.dockerignore: ${pattern} is not understood`);
  return new RegExp(`^${anywhere === '' ? '' : '(?:.*/)?'}${path.replaceAll('.', '\\.')}(?:/|$)`);
}
