import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';

/** The Markdown pages of the repository, as paths from its root. */
export const pages: readonly string[] = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'],
  { cwd: repositoryRoot, encoding: 'utf8' },
)
  .split('\n')
  .filter(Boolean);

export const readPage = (page: string): string => readFileSync(join(repositoryRoot, page), 'utf8');

/** All blocks of shell commands of a page. */
export const shellBlocks = (page: string): string[] =>
  [...readPage(page).matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
