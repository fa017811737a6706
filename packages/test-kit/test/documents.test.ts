import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';
import { describe, expect, test } from 'vitest';
import { pages, readPage, shellBlocks } from '../src/documents.ts';
import { freshEnvironment, startRun } from '../src/local-run.ts';
import { createEmptyDatabase } from '../src/test-database.ts';

const { scripts } = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> };

/** Returns the first shell code block below a heading. */
function commandsBelow(page: string, heading: string): string {
  const section = readPage(page)
    .split(`\n${heading}\n`)[1]
    ?.split(/\n##+ /)[0];
  const commands = /```sh\n(.*?)```/s.exec(section ?? '')?.[1];
  if (commands === undefined) throw new Error(`${page} has no commands below ${heading}`);
  return commands;
}

/** Returns the anchors that GitHub generates for the headings of a page. */
function anchorsOf(page: string): string[] {
  return [...readPage(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function runInShell(commands: string, options: { cwd: string; env?: NodeJS.ProcessEnv }): string {
  return execFileSync('sh', ['-e', '-c', commands], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    encoding: 'utf8',
  });
}

describe.each(pages)('%s', (page) => {
  test('has at most 200 lines, and the README at most 160', () => {
    expect(readPage(page).split('\n').length - 1).toBeLessThanOrEqual(page === 'README.md' ? 160 : 200);
  });

  test('names its readers in its first paragraphs', () => {
    expect(readPage(page).split('\n## ')[0]).toMatch(/^For |\bis for\b/m);
  });

  test('links to existing pages, headings and pictures', () => {
    const broken = [...readPage(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].filter(
      ([, path = '', anchor]) => {
        const target = path === '' ? page : join(dirname(page), path);
        if (!existsSync(join(repositoryRoot, target))) return true;
        return anchor !== undefined && !anchorsOf(target).includes(anchor);
      },
    );
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test('names existing files and folders', () => {
    const named = [
      ...readPage(page).matchAll(/`((?:apps|packages|prisma|docker|\.ci|\.config)\/[\w./-]+)`/g),
    ];
    const generated = /\/(dist|generated|node_modules)\b/;
    const missing = named.filter(
      ([, path = '']) => !generated.test(path) && !existsSync(join(repositoryRoot, path)),
    );
    expect(missing.map(([, path]) => path)).toEqual([]);
  });

  test('names existing npm scripts', () => {
    const named = [...readPage(page).matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(
      ([, name = '']) => name,
    );
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  test('has shell commands with valid syntax', () => {
    const parse = (block: string) => spawnSync('sh', ['-n'], { input: block, encoding: 'utf8' }).stderr;
    expect(shellBlocks(page).map(parse).filter(Boolean)).toEqual([]);
  });
});

test('the commands of "The first lead" in the README work when pasted', async () => {
  const { dataDir, env } = await freshEnvironment();
  const directory = dirname(dataDir);
  await startRun({ ...env, LEADS_DATA_DIR: join(directory, '.data') }).ready;

  const printed = runInShell(commandsBelow('README.md', '## The first lead'), { cwd: directory });

  const [created, submitted, listed] = printed.replaceAll('}{', '}\n{').replace('}[', '}\n[').split('\n');
  expect(JSON.parse(created ?? '')).toMatchObject({ success: true, lead: { name: 'Ada Lovelace' } });
  const { order_id: orderId } = JSON.parse(submitted ?? '') as { order_id: string };
  expect(JSON.parse(listed ?? '')).toMatchObject([
    { id: orderId, name: 'Grace Hopper' },
    { name: 'Ada Lovelace' },
  ]);
});

test('the README shows the first lead within its first 75 lines', () => {
  const lines = readPage('README.md').split('\n');
  expect(lines.findIndex((line) => line.includes('/v1/order/leads'))).toBeLessThan(75);
});

test('the commands of docker/COMMAND-LINE.md work when pasted', async () => {
  await using database = await createEmptyDatabase();
  const secret = 'a secret that only this test knows, long enough';
  const commands = (/```sh\n(.*?)```/s.exec(readPage('docker/COMMAND-LINE.md'))?.[1] ?? '')
    .replace(/(npx leads key create .*)/, '$1 --json > "$KEY_FILE"')
    .replace(
      'lk_1a2B3c4D',
      `"$(node -p 'JSON.parse(fs.readFileSync(process.env.KEY_FILE, "utf8")).prefix')"`,
    );
  const { dataDir } = await freshEnvironment();

  // `npx` takes longer to start than most commands take to run. The test of docker/UPGRADES.md runs the real `npx`.
  const printed = runInShell(`npx() { "$@"; }\n${commands}`, {
    cwd: repositoryRoot,
    env: {
      DATABASE_URL: database.url,
      PATH: `${repositoryRoot}/node_modules/.bin:${process.env['PATH']}`,
      JWT_SECRET: secret,
      ERASURE_SECRET: secret,
      KEY_FILE: `${dirname(dataDir)}/key.json`,
    },
  });

  expect(printed).toContain('SPRING');
  expect(printed).toMatch(/revoked/i);
  expect(printed).toMatch(/Ada Lovelace,'\+44 20 7946 0958/);
});

test('the commands of docker/UPGRADES.md migrate a database and check it', async () => {
  await using database = await createEmptyDatabase();
  const commands = commandsBelow('docker/UPGRADES.md', '## Upgrade');
  runInShell(commands, { cwd: repositoryRoot, env: { DATABASE_URL: database.url } });
  const checkOnly = commands
    .split('\n')
    .filter((line) => line.includes('--check'))
    .join('\n');
  expect(basename(checkOnly)).toContain('--check');
  await using empty = await createEmptyDatabase();
  expect(() => runInShell(checkOnly, { cwd: repositoryRoot, env: { DATABASE_URL: empty.url } })).toThrow(
    '--check',
  );
});
