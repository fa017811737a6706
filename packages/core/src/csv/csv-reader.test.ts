import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromCell, toRecord } from './csv-cell.ts';
import { type CsvFault, CsvReader, type CsvRecord, csvBounds } from './csv-reader.ts';

type Entry = Omit<CsvRecord, 'offset'> | Omit<CsvFault, 'offset'>;

/** Reads a file in pieces of the given sizes, which are repeated. */
function readWithOffsets(
  file: string | Buffer,
  sizes: readonly number[] = [64 * 1024],
): (CsvRecord | CsvFault)[] {
  const bytes = Buffer.from(file);
  const reader = new CsvReader();
  const entries: (CsvRecord | CsvFault)[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    entries.push(...reader.read(bytes.subarray(at, at + size)));
    at += size;
  }
  entries.push(...reader.end());
  return entries;
}

const read = (...args: Parameters<typeof readWithOffsets>): Entry[] =>
  readWithOffsets(...args).map(({ offset: _offset, ...entry }) => entry);

const record = (line: number, ...cells: string[]) => ({ line, cells });
const fault = (line: number, text: string) => ({ line, fault: expect.stringContaining(text) });

const cellText = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({
      unit: fc.constantFrom('"', ',', ';', '\t', '\r', '\n', "'", '=', '+', '@', 'a', '＝', '\ufeff'),
    }),
    fc.constantFrom(
      '',
      "'",
      "''=1",
      '=1+1',
      '+44 20',
      '-1',
      '@x',
      '\t',
      '\r\n',
      '"',
      '""',
      'שלום',
      '👩‍👩‍👧‍👦',
    ),
  )
  .filter((text) => !text.includes('\0'));
const pieceSizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
const header = ['a', 'b', 'c'];

describe('CSV that toRecord writes', () => {
  test('is read back unchanged in pieces of any size', () => {
    const rows = fc.array(fc.tuple(cellText, cellText, cellText), { maxLength: 8 });
    fc.assert(
      fc.property(rows, pieceSizes, (all, sizes) => {
        const file = [header, ...all].map(toRecord).join('');
        const cells = read(file, sizes).map((entry) =>
          'cells' in entry ? entry.cells.map(fromCell) : entry,
        );
        expect(cells).toEqual([header, ...all]);
      }),
      { numRuns: 500 },
    );
  });

  test('has no cell that begins like a formula', () => {
    fc.assert(
      fc.property(cellText, (text) => {
        const [entry] = read(toRecord(['x', text]));
        const [, cell = ''] = entry !== undefined && 'cells' in entry ? entry.cells : [];
        expect(cell).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
      }),
      { numRuns: 500 },
    );
  });

  test('is read as records with the line in which each record starts', () => {
    const withBreaks = fc.array(fc.constantFrom('x', '1\n2', '1\r2', '1\r\n2\n'), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(withBreaks, pieceSizes, (texts, sizes) => {
        const file = [header, ...texts.map((text) => ['v', text, 'w'])].map(toRecord).join('');
        let line = 2;
        const lines = texts.map((text) => {
          const start = line;
          line += 1 + (text.match(/\r\n|\r|\n/g)?.length ?? 0);
          return start;
        });
        expect(read(file, sizes).map((entry) => entry.line)).toEqual([1, ...lines]);
      }),
    );
  });
});

test('each entry has the offset of its first byte, for pieces of any size and after any entries', () => {
  const texts = fc.constantFrom(
    '1,2,3',
    'é,"x\ny",z',
    'x,"y"z,',
    '"x,y',
    '\0,2,3',
    '',
    `${'y'.repeat(70_000)},`,
  );
  const starts = fc.constantFrom('a,b,c\n', '\ufeffa,b,c\r\n', '\n\na,b,c\n');
  fc.assert(
    fc.property(starts, fc.array(texts, { maxLength: 6 }), pieceSizes, (start, lines, sizes) => {
      const bytes = Buffer.from(`${start}${lines.map((line) => `${line}\n`).join('')}`);
      for (const { offset, line } of readWithOffsets(bytes, sizes)) {
        const before = bytes.subarray(0, offset).toString();
        expect(before === '' || before === '\ufeff' || before.endsWith('\n')).toBe(true);
        expect(before.split('\n')).toHaveLength(line);
      }
    }),
    { numRuns: 60 },
  );
});

test('the separator is known after the first record', () => {
  for (const separator of [',', ';', '\t']) {
    const reader = new CsvReader();
    expect([...reader.read(Buffer.from(`a${separator}b\n`))]).toHaveLength(1);
    expect(reader.separator).toBe(separator);
  }
});

describe('CsvReader', () => {
  test('accepts CRLF, LF and CR as line ends, and a last line without a line end', () => {
    for (const end of ['\r\n', '\n', '\r']) {
      for (const last of [end, '', end + end]) {
        const file = `a,b${end}1,2${end}${end}3,"4"${last}`;
        for (const sizes of [[1], [2], [100]]) {
          expect(read(file, sizes)).toEqual([record(1, 'a', 'b'), record(2, '1', '2'), record(4, '3', '4')]);
        }
      }
    }
  });

  test('uses the separator that is most frequent outside of quotes in the first line', () => {
    expect(read('a;b,c;d\n1;2;3\n')).toEqual([record(1, 'a', 'b,c', 'd'), record(2, '1', '2', '3')]);
    expect(read('a\tb\n1\t2,3\n')).toEqual([record(1, 'a', 'b'), record(2, '1', '2,3')]);
    expect(read('"a;;;",b\n1,2;3\n')).toEqual([record(1, 'a;;;', 'b'), record(2, '1', '2;3')]);
    expect(read('a\n1,2\n')).toEqual([record(1, 'a'), record(2, '1', '2')]);
    expect(read('\n\na;b\n1;2')).toEqual([record(3, 'a', 'b'), record(4, '1', '2')]);
  });

  test('skips a first line that names the separator for Excel', () => {
    for (const separator of [',', ';', '\t']) {
      for (const sizes of [[1], [100]]) {
        expect(read(`\ufeffsep=${separator}\r\na${separator}b\r\n1${separator}2`, sizes)).toEqual([
          record(2, 'a', 'b'),
          record(3, '1', '2'),
        ]);
      }
    }
    expect(read('a;b\nsep=;\n')).toEqual([record(1, 'a', 'b'), record(2, 'sep=', '')]);
    expect(read('sep=;b\n1;2')).toEqual([record(1, 'sep=', 'b'), record(2, '1', '2')]);
    expect(read('sep=;')).toEqual([]);
  });

  test('skips a byte order mark, even if it is split between pieces', () => {
    for (const separator of [',', ';', '\t']) {
      const file = Buffer.from(`\ufeff"a"${separator}b\n1${separator}2`);
      const splits = Array.from(file.subarray(1).keys(), (at) => [at + 1, file.length]);
      for (const sizes of [[1], [2], ...splits, [file.length]]) {
        expect(read(file, sizes)).toEqual([record(1, 'a', 'b'), record(2, '1', '2')]);
      }
    }
    for (const sizes of [[1], [3], [100]]) {
      expect(read('\ufeff\ufeffa,b', sizes)).toEqual([record(1, '\ufeffa', 'b')]);
    }
    expect(read('a,b\n\ufeff1,2')).toEqual([record(1, 'a', 'b'), record(2, '\ufeff1', '2')]);
    expect(read('\ufeff')).toEqual([]);
    expect(read('')).toEqual([]);
  });

  test('reads a quote inside an unquoted cell as an ordinary character', () => {
    expect(read('a,b\n5" pipe,x"y"z\n')[1]).toEqual(record(2, '5" pipe', 'x"y"z'));
  });
});

describe('CsvReader with invalid lines', () => {
  const good = ['a,b', '1,2', '3,4'];
  const broken: Record<string, [line: string | Buffer, fault: string]> = {
    'a quote that is never closed': ['x,"y', 'quote'],
    'a quote that is closed too early': ['x,"y"z', 'closing quote'],
    'text between quotes': ['"x" ,y', 'closing quote'],
    'bytes that are not UTF-8': [Buffer.from([0x78, 0x2c, 0xff, 0xfe]), 'UTF-8'],
    'half a character': [Buffer.from([0x78, 0x2c, 0xe2, 0x82]), 'UTF-8'],
    'half a surrogate pair': [Buffer.from([0x78, 0x2c, 0xed, 0xa0, 0x80]), 'UTF-8'],
    'a NUL character': ['x,y\0', 'NUL'],
    'a cell of more than 64 KiB': [`x,${'y'.repeat(csvBounds.cellBytes + 2)}`, '64 KiB'],
    'a quoted cell of more than 64 KiB': [`x,"${'y'.repeat(csvBounds.cellBytes + 2)}"`, '64 KiB'],
    'a cell of 3 MB': [`x,${'y'.repeat(3_000_000)}`, '64 KiB'],
    'a quoted cell of 3 MB without a closing quote': [`x,"${'y'.repeat(3_000_000)}`, '64 KiB'],
    '5,001 cells': ['x,'.repeat(5000), '1000 cells'],
    'many long cells': [`${'y'.repeat(60_000)},`.repeat(40), '2 MiB'],
  };
  test.each(Object.entries(broken))('rejects only the line with %s', (_name, [line, text]) => {
    for (const end of ['\n', '\r\n']) {
      for (const sizes of [[65536], [1000, 1, 7]]) {
        const file = Buffer.concat([
          Buffer.from(`${good.join(end)}${end}`),
          Buffer.from(line),
          Buffer.from(`${end}5,"6"${end}${end}7,"8,${end}9"${end}`),
        ]);
        expect(read(file, sizes)).toEqual([
          record(1, 'a', 'b'),
          record(2, '1', '2'),
          record(3, '3', '4'),
          fault(4, text),
          record(5, '5', '6'),
          record(7, '7', `8,${end}9`),
        ]);
      }
    }
  });

  test('rejects only the line of an open quote if no other line has quotes, at the end of the file and beyond 64 KiB', () => {
    for (const count of [1, 10, 40_000]) {
      const entries = read(`a,b\n"x,y\n${'1,2\n'.repeat(count)}`);
      expect(entries).toHaveLength(2 + count);
      expect(entries[1]).toEqual(fault(2, count > 10_000 ? '64 KiB' : 'never closed'));
      expect(entries.at(-1)).toEqual(record(2 + count, '1', '2'));
    }
  });

  test('reads a file of invalid lines only in linear time', () => {
    for (const line of ['"\n', '"x\n', '"x"y\n', '"""x\n', '""x\n', 'x,"\n']) {
      const entries = read(`a,b\n${line.repeat(50_000)}`, [4096]);
      expect(entries.length).toBeGreaterThan(20_000);
    }
  }, 10_000);

  test('reads a cell of 64 KiB, even if it consists of quotes only', () => {
    for (const text of [
      'y'.repeat(csvBounds.cellBytes),
      '"'.repeat(csvBounds.cellBytes),
      '=' + 'é'.repeat(32_767),
    ]) {
      const [, entry] = read(toRecord(['a', 'b']) + toRecord(['x', text]), [5000]);
      expect(entry !== undefined && 'cells' in entry && fromCell(entry.cells[1] ?? '') === text).toBe(true);
    }
  });

  test('reads pieces of one byte in linear time', () => {
    const entries = read(`a,b\n"${'x\n'.repeat(20_000)}",y\n${'z'.repeat(200_000)},\n1,2`, [1]);
    expect(entries.at(-1)).toMatchObject({ cells: ['1', '2'] });
  }, 10_000);
});
