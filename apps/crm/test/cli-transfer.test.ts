import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { openFixture } from '@leads/test-kit/fixture';
import { longTimeouts } from '@leads/test-kit/services';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { describePosition } from '../src/cli/runtime/progress.ts';
import { leadsProgram, runLeads, startLeads } from './command-line.ts';

const database = await createTestDatabase();
const fixture = openFixture(database.url);
const workspace = await fixture.createWorkspace();
const { owner, slug } = workspace;
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'leads-transfer-'));
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await fixture[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
const file = (name: string) => join(directory, name);

const env = { DATABASE_URL: database.url };

/** Starts a command whose stderr is a terminal. `script`, which is part of Debian's bsdutils, records the terminal. */
function startOnTerminal(args: readonly string[]) {
  const command = [process.execPath, leadsProgram, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn(
    'script',
    ['--quiet', '--return', '--flush', '--command', `${command} >&3`, '/dev/null'],
    {
      env: {
        PATH: process.env['PATH'],
        SHELL: '/bin/sh',
        DATABASE_URL: database.url,
      },
      stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
    },
  );
  let drawn = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (drawn += text));
  return {
    stdout: child.stdio[3] as Readable,
    ended: once(child, 'close').then(([code]) => ({ code: code as number | null, drawn })),
    drawn: () => drawn,
  };
}

const leads = (args: readonly string[], input = '') => runLeads(args, env, input);

const header = 'campaignCode,name,phone';
const lines = (count: number) =>
  Array.from({ length: count }, (_, i) => `DEMO,Lead ${i},+1 202 555 0143\n`).join('');
const storedCount = async () =>
  (await fixture.sql<{ name: string }>('SELECT name FROM lead WHERE workspace_id = $1', [workspace.id]))
    .length;
const asOwner = ['--user', owner.email];

describe('leads import', () => {
  test('stores the lines of a file, reports each rejected line, and exits with 1 if a line is rejected', async () => {
    writeFileSync(file('a.csv'), `id,${header}\n1,DEMO,A,1\n2,DEMO,,1\n3,NONE,"B\nC",1\n`);
    const before = await storedCount();
    const rejected = file('rejected.csv');
    const run = await leads(['import', file('a.csv'), ...asOwner, '--rejected', rejected]);
    expect(run).toEqual({
      code: 1,
      stdout:
        'Stored 1 leads, 0 of them as duplicates; 0 already stored; 2 rejected.\nIgnored columns: id.\n',
      stderr: 'error: 2 lines were rejected\n',
    });
    expect(readFileSync(rejected, 'utf8')).toBe(
      'line,field,reason\r\n3,name,"name is required"\r\n4,campaignCode,"campaignCode must be the code of an active campaign"\r\n',
    );
    expect(await storedCount()).toBe(before + 1);

    const withoutFile = await leads(['import', file('a.csv'), ...asOwner]);
    expect(withoutFile.stderr).toBe(
      'line 3: name is required\nline 4: campaignCode must be the code of an active campaign\nerror: 2 lines were rejected\n',
    );
    const json = await leads(
      ['import', '-', ...asOwner, '--campaign', 'DEMO', '--json'],
      'name,phone\nA,1\n',
    );
    expect([json.code, json.stderr, JSON.parse(json.stdout)]).toEqual([
      0,
      '',
      {
        accepted: 1,
        duplicates: 0,
        repeated: 0,
        rejected: 0,
        extraLeftOut: 0,
        ignoredColumns: [],
        rejections: [],
        truncated: false,
      },
    ]);
  });

  test('ignores the columns of --ignore, and rejects a column that the file does not have', async () => {
    writeFileSync(file('ignore.csv'), `${header},Score,Internal notes\nDEMO,Ignored,1,2,3\n`);
    const args = [
      'import',
      file('ignore.csv'),
      ...asOwner,
      '--ignore',
      'Internal notes',
      '--ignore',
      'Score',
    ];
    const run = await leads(args);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toContain('\nIgnored columns: Score, Internal notes.\n');
    const [lead] = await fixture.sql('SELECT extra FROM lead WHERE workspace_id = $1 AND name = $2', [
      workspace.id,
      'Ignored',
    ]);
    expect(lead).toEqual({ extra: null });
    const unknown = await leads([...args, '--ignore', 'score']);
    expect([unknown.code, unknown.stdout]).toEqual([1, '']);
    expect(unknown.stderr).toContain(
      'error: --ignore must name columns as the header of the file spells them: value 3',
    );
  });

  test('stores no lead twice with the same idempotency key', async () => {
    writeFileSync(file('key.csv'), `${header}\n${lines(700)}`);
    const args = ['import', file('key.csv'), ...asOwner, '--workspace', slug, '--idempotency-key', 'one'];
    const before = await storedCount();
    expect((await leads(args)).stdout).toMatch(/^Stored 700 leads, .* 0 already stored/);
    expect((await leads(args)).stdout).toMatch(/^Stored 0 leads, .* 700 already stored/);
    expect(await storedCount()).toBe(before + 700);
  });

  test('reports each failure in one line', async () => {
    writeFileSync(file('bad.csv'), 'x\n');
    for (const [args, code, line] of [
      [['import', file('none.csv'), ...asOwner], 1, 'cannot be read'],
      [['import', directory, ...asOwner], 1, 'is a directory'],
      [
        ['import', file('bad.csv'), ...asOwner],
        1,
        'The header has no column name; The header has no column phone; --campaign is required if the header has no column campaignCode',
      ],
      [['import', file('bad.csv')], 2, '--user'],
      [['import', file('bad.csv'), '--user', 'x@y.zz'], 1, 'User x@y.zz does not exist'],
      [['import', file('bad.csv'), ...asOwner, '--workspace', 'none'], 1, 'not a member of none'],
    ] as const) {
      const run = await leads(args);
      expect([args, run.code, run.stdout]).toEqual([args, code, '']);
      expect(run.stderr).toContain(line);
      expect(run.stderr.trimEnd().split('\n')).toHaveLength(1);
    }
  });

  test('stops on Ctrl-C, and reports the number of stored leads', async () => {
    const before = await storedCount();
    const args = ['import', '-', ...asOwner, '--idempotency-key', 'cut'];
    const { child, ended } = startLeads(args, env);
    child.stdin?.write(`${header}\n${lines(2100)}`);
    // The second batch is stored after the command has counted the first one. It may have counted the second one, too.
    await expect.poll(storedCount).toBeGreaterThanOrEqual(before + 2000);
    child.kill('SIGINT');
    const { code, stdout, stderr } = await ended;
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^error: Interrupted: [12],000 leads were stored; import the file again with the same key to store the rest\n$/,
    );
    const accepted = Number(/: (\d),000 leads/.exec(stderr)?.[1]) * 1000;
    expect(
      await fixture.sql(
        `SELECT details FROM audit_entry WHERE workspace_id = $1 AND action = 'leads.imported'
         ORDER BY at DESC LIMIT 1`,
        [workspace.id],
      ),
    ).toEqual([{ details: { accepted, duplicates: 0, repeated: 0, rejected: 0, isComplete: false } }]);
    expect((await leads(args, `${header}\n${lines(2100)}`)).stdout).toMatch(
      /^Stored 100 leads, .* 2,000 already stored/,
    );
    expect(await storedCount()).toBe(before + 2100);
  });
});

describe('leads export', () => {
  test('writes a file that appears when it is complete, and that can be imported', async () => {
    const path = file('out.csv');
    const run = await leads(['export', path, '--workspace', slug, '--sort', 'createdAt', '--json']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(JSON.parse(run.stdout)).toEqual({ leads: await storedCount(), file: path, format: 'csv' });
    expect(existsSync(`${path}.part`)).toBe(false);
    const text = readFileSync(path, 'utf8');
    expect(text).toMatch(/^id,name,phone,/);
    const before = await storedCount();
    const back = await leads(['import', path, ...asOwner, '--json']);
    expect(JSON.parse(back.stdout)).toMatchObject({ accepted: before, rejected: 0 });
  });

  test('writes to standard output, and accepts the filters of the lead list', async () => {
    await leads(['import', '-', ...asOwner], `${header},description\nDEMO,Only One,+44 20 7946 0958,x\n`);
    for (const filter of [
      ['--phone', '020 7946 0958'],
      ['--search', 'only on'],
      [
        '--search',
        'only',
        '--campaign',
        'DEMO',
        '--status',
        'OnHold',
        '--source',
        'crm',
        '--created-from',
        '2020-01-01',
      ],
    ]) {
      const run = await leads(['export', '--format', 'ndjson', '--workspace', slug, ...filter]);
      expect([run.code, run.stderr]).toEqual([0, 'Wrote 1 leads.\n']);
      expect(JSON.parse(run.stdout)).toMatchObject({ name: 'Only One' });
    }
    for (const stdout of ['-', '/dev/fd/1']) {
      const none = await leads(['export', stdout, '--quiet', '--workspace', slug, '--s1', 'none']);
      expect([none.stdout.split('\r\n').length, none.stderr]).toEqual([2, '']);
    }
  });

  test('writes directly to a pipe, and does not replace it by a file', async () => {
    const path = file('pipe');
    execFileSync('mkfifo', [path]);
    const reader = spawn('cat', [path], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const received = textOf(reader.stdout);
      const run = await leads(['export', path, '--workspace', slug, '--format', 'ndjson', '--json']);
      expect(run).toMatchObject({ code: 0, stderr: '' });
      expect(statSync(path).isFIFO()).toBe(true);
      expect((await received).trimEnd().split('\n')).toHaveLength(await storedCount());
    } finally {
      reader.kill();
    }
  });

  test('ends on Ctrl-C while it waits for the reader of a pipe', async () => {
    const path = file('unread');
    execFileSync('mkfifo', [path]);
    const exports = async () =>
      (
        await fixture.sql(`SELECT FROM audit_entry WHERE workspace_id = $1 AND action = 'leads.exported'`, [
          workspace.id,
        ])
      ).length;
    const before = await exports();
    const { child, ended } = startLeads(['export', path, '--workspace', slug, '--quiet'], env);
    try {
      // The export opens the pipe after it is in the audit log.
      await expect.poll(exports, { timeout: 30_000 }).toBe(before + 1);
      child.kill('SIGINT');
      expect(await ended).toEqual({
        code: 1,
        stdout: '',
        stderr: `error: Interrupted: ${path} was not written\n`,
      });
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('writes only the leads that the member of --user can see', async () => {
    const publisher = await workspace.addMember('publisher');
    const own = ['--user', publisher.email];
    await leads(['import', '-', ...own], `${header}\nDEMO,Mine,1\n`);
    const run = await leads(['export', '--format', 'ndjson', ...own]);
    expect(JSON.parse(run.stdout)).toMatchObject({ name: 'Mine', userId: publisher.userId });
  });

  test('reports each failure in one line', async () => {
    for (const [args, code, line] of [
      [['export', '--json', '--workspace', slug], 2, '--json'],
      [
        ['export', '--workspace', slug, '--status', 'Lost'],
        2,
        "option '--status <statuses>' must be one or more of OnHold",
      ],
      [
        ['export', '--workspace', slug, '--status', 'OnHold', '--status', 'Paid'],
        2,
        'It is given twice. Separate',
      ],
      [['export', '--workspace', slug, '--s1', 'a', '--s1', 'b'], 2, 'It is given twice.\n'],
      [['export', '--workspace', slug, '--created-to', 'soon'], 2, "'--created-to <time>'"],
      [['export', '--workspace', slug, '--phone', 'x'], 1, 'phone must contain a digit'],
      [['export', '--workspace', 'none'], 1, 'Workspace none does not exist'],
      [['export', join(directory, 'no', 'way.csv'), '--workspace', slug], 1, 'cannot be written'],
    ] as const) {
      const run = await leads(args);
      expect([args, run.code, run.stdout]).toEqual([args, code, '']);
      expect(run.stderr).toContain(line);
      expect(run.stderr.trimEnd().split('\n')).toHaveLength(1);
    }
  });

  test('reports standard output that cannot be written in one line', async () => {
    // Each write to this device fails with ENOSPC, as on a full disk.
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    for (const args of [
      ['export', '--workspace', slug],
      ['campaign', 'list', '--workspace', slug],
    ]) {
      const { status, stderr } = spawnSync(process.execPath, [leadsProgram, ...args], {
        env: { PATH: process.env['PATH'], ...longTimeouts, ...env },
        stdio: ['ignore', full, 'pipe'],
        encoding: 'utf8',
      });
      expect([args, status, stderr]).toEqual([
        args,
        1,
        expect.stringMatching(/^error: The result cannot be written: ENOSPC[^\n]*\n$/),
      ]);
    }
  });

  test('exits with 0 if the reader closes the pipe, and with 1 on Ctrl-C', async () => {
    await fixture.sql(
      `INSERT INTO lead (id, workspace_id, campaign_id, user_id, source, status, name, phone, description, version, words, created_at, updated_at)
       SELECT gen_random_uuid(), $1, $2, $3, 'crm', 'OnHold', 'Lead ' || n, '1', repeat('x', 5000), 1, '{}', now(), now()
       FROM generate_series(1, 6000) AS n`,
      [workspace.id, workspace.demoCampaignId, owner.userId],
    );
    const closed = startLeads(['export', '--workspace', slug], env);
    const [piece] = (await once(closed.child.stdout ?? process.stdin, 'data')) as [string];
    expect(piece).toMatch(/^id,/);
    closed.child.stdout?.destroy();
    expect(await closed.ended).toMatchObject({ code: 0, stderr: '' });

    const stuck = startLeads(['export', '--workspace', slug], env);
    await once(stuck.child.stdout ?? process.stdin, 'data');
    // The pipe is full long before the end of the export.
    stuck.child.stdout?.pause();
    stuck.child.kill('SIGINT');
    stuck.child.stdout?.resume();
    expect(await stuck.ended).toMatchObject({
      code: 1,
      stderr: 'error: Interrupted: the output is incomplete\n',
    });
  });
});

test('imports and exports are in the audit log of the workspace, also an export without leads', async () => {
  const { id, slug: other, owner: member } = await fixture.createWorkspace();
  await leads(['import', '-', '--user', member.email], `${header}\nDEMO,A,1\nDEMO,,1\n`);
  await leads([
    'export',
    file('audit.csv'),
    '--workspace',
    other,
    '--status',
    'OnHold',
    '--sort',
    'createdAt',
  ]);
  await leads(['export', '--workspace', other, '--format', 'ndjson', '--s1', 'none']);
  await leads(['export', '--workspace', other, '--phone', 'x']);

  expect(
    await fixture.sql('SELECT action, source, details FROM audit_entry WHERE workspace_id = $1 ORDER BY at', [
      id,
    ]),
  ).toEqual([
    {
      action: 'leads.imported',
      source: 'cli',
      details: { accepted: 1, duplicates: 0, repeated: 0, rejected: 1 },
    },
    { action: 'leads.exported', source: 'cli', details: { format: 'csv', filters: 'status, sort' } },
    { action: 'leads.exported', source: 'cli', details: { format: 'ndjson', filters: 's1' } },
  ]);
});

test('an import and an export draw a progress bar on a terminal, and erase it when they finish', async () => {
  const erased = '\r\u001b[2K';
  const bar = /^\[[#-]{20}\] [1-9]\d? %, [\d,]+ rows, [\d,]+ rows\/s, \d[^\n]* left$/;
  const isDrawn = (drawn: () => string) =>
    vi.waitFor(() => expect(drawn().split(erased)).toContainEqual(expect.stringMatching(bar)), {
      timeout: 60_000,
      interval: 50,
    });
  const { slug: otherSlug, owner: member } = await fixture.createWorkspace();
  const long = Array.from({ length: 1500 }, (_, i) => `DEMO,Lead ${i},1,${'x'.repeat(2000)}\n`).join('');
  writeFileSync(file('long.csv'), `${header},description\n${long}`);

  // The import blocks at its first insert until the table lock is released.
  const release = await fixture.holdTable('lead');
  const incoming = startOnTerminal(['import', file('long.csv'), '--user', member.email]);
  try {
    await isDrawn(incoming.drawn);
  } finally {
    await release();
  }
  expect(await textOf(incoming.stdout)).toMatch(/^Stored 1,500 leads/);
  const imported = await incoming.ended;
  expect([imported.code, imported.drawn.endsWith(erased)]).toEqual([0, true]);

  // The export blocks until the test reads its output.
  const outgoing = startOnTerminal(['export', '--workspace', otherSlug]);
  await isDrawn(outgoing.drawn);
  expect((await textOf(outgoing.stdout)).split('\r\n')).toHaveLength(1502);
  const exported = await outgoing.ended;
  expect([exported.code, exported.drawn.endsWith(`${erased}Wrote 1,500 leads.\r\n`)]).toEqual([0, true]);
});

test('describePosition formats the rows, their rate, the completed part and the remaining time', () => {
  expect(describePosition({ rows: 0 }, 0)).toBe('0 rows, 0 rows/s');
  expect(describePosition({ rows: 12_000 }, 4_000)).toBe('12,000 rows, 3,000 rows/s');
  expect(describePosition({ rows: 12_000, part: 0.25 }, 60_000)).toBe(
    '[#####---------------] 25 %, 12,000 rows, 200 rows/s, 3 min 0 s left',
  );
  expect(describePosition({ rows: 1, part: 1.2 }, 1_000)).toBe(
    '[####################] 100 %, 1 rows, 1 rows/s, 0 s left',
  );
  expect(describePosition({ rows: 1, part: 0.001 }, 10_000)).toBe(
    '[--------------------] 0 %, 1 rows, 0 rows/s, 2 h 46 min left',
  );
});
