import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '@leads/local-stack/repository';
import { expect, test } from 'vitest';
import { freshEnvironment, startRun } from '../src/local-run.ts';
import { createEmptyDatabase } from '../src/test-database.ts';

const readme = readFileSync(join(repositoryRoot, 'README.md'), 'utf8');

/** The first block of shell commands below a heading. */
function commandsBelow(heading: string): string {
  const section = readme.split(`\n${heading}\n`)[1]?.split(/\n##+ /)[0];
  const commands = /```sh\n(.*?)```/s.exec(section ?? '')?.[1];
  if (commands === undefined) throw new Error(`The README has no commands below ${heading}`);
  return commands;
}

function runInShell(commands: string, options: { cwd: string; env?: NodeJS.ProcessEnv }): string {
  return execFileSync('sh', ['-e', '-c', commands], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    encoding: 'utf8',
  });
}

test('the first lead: the commands work as pasted', { timeout: 120_000 }, async () => {
  const { dataDir, env } = await freshEnvironment();
  const directory = dirname(dataDir);
  await startRun({ ...env, LEADS_DATA_DIR: join(directory, '.data') }).ready;

  const printed = runInShell(commandsBelow('## The first lead'), { cwd: directory });

  const [created, submitted, listed] = printed.replaceAll('}{', '}\n{').replace('}[', '}\n[').split('\n');
  expect(JSON.parse(created ?? '')).toMatchObject({ success: true, lead: { name: 'Ada Lovelace' } });
  const { order_id: orderId } = JSON.parse(submitted ?? '') as { order_id: string };
  expect(JSON.parse(listed ?? '')).toMatchObject([
    { id: orderId, name: 'Grace Hopper' },
    { name: 'Ada Lovelace' },
  ]);
});

test("the operator's command line: the commands work as pasted", { timeout: 120_000 }, async () => {
  await using database = await createEmptyDatabase();
  const secret = 'a secret that only this test knows, long enough';
  const commands = commandsBelow("### The operator's command line")
    .replace(/(npx leads key create .*)/, '$1 --json > "$KEY_FILE"')
    .replace(
      'lk_1a2B3c4D',
      `"$(node -p 'JSON.parse(fs.readFileSync(process.env.KEY_FILE, "utf8")).prefix')"`,
    );
  const { dataDir } = await freshEnvironment();

  const printed = runInShell(commands, {
    cwd: repositoryRoot,
    env: {
      DATABASE_URL: database.url,
      JWT_SECRET: secret,
      ERASURE_SECRET: secret,
      KEY_FILE: `${dirname(dataDir)}/key.json`,
    },
  });

  expect(printed).toContain('SPRING');
  expect(printed).toMatch(/revoked/i);
  expect(printed).toMatch(/Ada Lovelace,'\+44 20 7946 0958/);
});
