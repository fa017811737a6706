import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';
import { expect, test } from 'vitest';

const readme = readFileSync(join(repositoryRoot, 'packages/README.md'), 'utf8');
const recipes = readFileSync(join(repositoryRoot, 'packages/RECIPES.md'), 'utf8');
const pathsIn = (page: string) =>
  page.match(/(?<![\w@/.-])(?:\.ci|\.config|apps|docker|packages|prisma)\/[\w./-]*[\w-]/g) ?? [];
const tree = (readme.split('```')[1] ?? '').split('\n').map((line) => line.split(' ')[0] ?? '');

/** Returns the folders below a folder, and that folder, without generated files. */
function foldersOf(path: string): string[] {
  const below = readdirSync(path, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== 'generated',
  );
  return [relative(repositoryRoot, path), ...below.flatMap(({ name }) => foldersOf(join(path, name)))];
}

test.each([
  ['packages/README.md', readme],
  ['packages/RECIPES.md', recipes],
])('%s names only paths that exist', (_page, text) => {
  const named = pathsIn(text);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((path) => !existsSync(join(repositoryRoot, path)))).toEqual([]);
});

test('the tree of packages/README.md has every source folder, and has it once', () => {
  const folders = ['apps', 'packages'].flatMap((parent) =>
    readdirSync(join(repositoryRoot, parent))
      .map((name) => `${parent}/${name}`)
      .filter((path) => existsSync(join(repositoryRoot, path, 'package.json')))
      .flatMap((path) => [path].concat(foldersOf(join(repositoryRoot, path, 'src')))),
  );
  const listed = tree.filter((path) => path.includes('/'));
  expect(listed.toSorted(byName)).toEqual(folders.toSorted(byName));
});

const byName = (a: string, b: string) => a.localeCompare(b);
