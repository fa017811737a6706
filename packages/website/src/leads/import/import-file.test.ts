import { describe, expect, test } from 'vitest';
import {
  guessStatusTargets,
  guessTargets,
  headerFor,
  lineInFile,
  readHead,
  rejectedLines,
  statusHeaderFor,
  withHeader,
} from './import-file.ts';
import { UserError } from '../../shell/user-error.ts';

const fileOf = (...parts: BlobPart[]) => new File(parts, 'leads.csv');

describe('readHead', () => {
  test('returns the separator, the columns, the first records and their offset', async () => {
    const text = '\uFEFF\n"Contact\nperson"; Mobile ;"\'-x"\r\n\r\n"Zo\u00eb;\nX";1;2\r\n3;4;5\n6;7;8\n9;;\n';
    const head = await readHead(fileOf(text));
    expect(head).toMatchObject({
      separator: ';',
      columns: ['Contact\nperson', 'Mobile', '-x'],
      header: '"Contact\nperson"; Mobile ;"\'-x"',
      bodyLine: 5,
      sample: [
        { line: 5, cells: ['Zo\u00eb;\nX', '1', '2'] },
        { line: 7, cells: ['3', '4', '5'] },
        { line: 8, cells: ['6', '7', '8'] },
      ],
    });
    const sent = await withHeader(head, ['name', 'phone', 'x"y']).text();
    expect(sent).toBe(`"name";"phone";"x""y"\r\n${text.slice(text.indexOf('"Zo'))}`);
  });

  test('reads until there are enough records, even if the records are long', async () => {
    const long = `${'x'.repeat(60_000)},`.repeat(20);
    const head = await readHead(fileOf(`a,b\n${long}\n1,2\n`));
    expect(head.sample.map(({ line }) => line)).toEqual([2, 3]);
  });

  test.each([
    ['no header line', ['']],
    ['no header line', [' ,, \n1,2,3\n']],
    ['has one line only', ['name,phone']],
    ['has one line only', ['name,phone\r\n\r\n']],
    ['not UTF-8', [new Uint8Array([0x61, 0x0a, 0xff, 0x0a])]],
    ['not UTF-8', ['a\nb\0\n']],
    ['has a quote that is never closed', ['a,"b']],
  ])('rejects a file with the message: %s', async (reason, parts) => {
    const error: unknown = await readHead(fileOf(...parts)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UserError);
    expect((error as UserError).message).toContain(reason);
  });
});

test('guessTargets maps columns by field names and aliases, and each field once', () => {
  const columns = ['Full Name', 'MOBILE', 'post-code', 'zip', 'status', 'Line', 'state', 'extra', 'campaign'];
  expect(guessTargets(columns)).toEqual([
    'name',
    'phone',
    'zipcode',
    'extra',
    'nothing',
    'nothing',
    'extra',
    'extra',
    'campaignCode',
  ]);
});

test('guessStatusTargets leaves out columns of other names, also those of a file of rejected lines', () => {
  const columns = ['Line', 'Rejection', 'order_id', 'Sub ID', 'Call status', 'Status', 'reason', 'name'];
  const targets = guessStatusTargets(columns);
  expect(targets).toEqual(['nothing', 'nothing', 'id', 's1', 'status', 'nothing', 'reason', 'nothing']);
  expect(statusHeaderFor(targets)).toEqual(
    targets.map((target) => (target === 'nothing' ? 'left out' : target)),
  );
});

test('headerFor names fields, renames extra columns that collide with fields, and lists the columns to ignore', () => {
  const columns = ['Who', 'Secret', 'id', 'City', 'left out', '', 'a\nb', 'extra', 'Secret'];
  const targets = [
    'name',
    'nothing',
    'nothing',
    ...columns.slice(3, 8).map(() => 'extra' as const),
    'nothing',
  ] as const;
  expect(headerFor({ columns }, targets)).toEqual({
    names: [
      'name',
      'left out',
      'left out',
      'City (file)',
      'left out (file)',
      'column 6',
      'a b',
      'extra',
      'left out',
    ],
    ignore: ['left out'],
  });
  expect(headerFor({ columns: ['id'] }, ['extra'])).toEqual({ names: ['id (file)'], ignore: [] });
});

test('rejectedLines returns rejected lines unchanged, even invalid ones, with their line numbers in the file', async () => {
  const lines = ['"a\nb",c', '1,2', '', '"x""\ny",z', '"open,1', '5,6', 'x,"y"z', '7,8', '"last'];
  const head = await readHead(fileOf(lines.join('\r\n')));
  const numbers = [2, 4, 6, 8, 10];
  const rejected = await rejectedLines(
    head,
    numbers.map((line) => ({ line, reason: `no "${line}"` })),
  );
  expect(await rejected.text()).toBe(
    [
      'line,rejection,"a\nb",c',
      '3,"no ""2""",1,2',
      '5,"no ""4""","x""\ny",z',
      '7,"no ""6""","open,1',
      '9,"no ""8""",x,"y"z',
      '11,"no ""10""","last',
      '',
    ].join('\r\n'),
  );
  expect(lineInFile(head, 2)).toBe(3);
});

test('rejectedLines starts with a byte order mark if the file does, so that spreadsheets read both in the same way', async () => {
  for (const mark of ['\uFEFF', '']) {
    const head = await readHead(fileOf(`${mark}name,phone\r\nZo\u00eb,\r\n`));
    const rejected = await rejectedLines(head, [{ line: 2, reason: 'no phone' }]);
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await rejected.arrayBuffer());
    expect(text).toBe(`${mark}line,rejection,name,phone\r\n2,"no phone",Zo\u00eb,\r\n`);
  }
});
