import { describe, expect, test } from 'vitest';
import { runsInTransaction, splitStatements } from './migration-script.ts';

test.each([
  ['-- leads: no transaction\nSELECT 1', false],
  ['-- leads: no transaction  \r\nSELECT 1', false],
  ['-- leads: no transaction', false],
  ['\n-- leads: no transaction\n', true],
  ['-- leads: no transactions\n', true],
  ['SELECT 1; -- leads: no transaction\n', true],
  ['', true],
])('runsInTransaction of the script %j is %j', (script, expected) => {
  expect(runsInTransaction(script)).toBe(expected);
});

describe('splitStatements', () => {
  test.each<[string, string[]]>([
    ['', []],
    [' ;\n; -- nothing\n;', []],
    ['SELECT 1', ['SELECT 1']],
    ['SELECT 1;\nSELECT 2;\n', ['SELECT 1', 'SELECT 2']],
    ["SELECT ';', 'it''s;', ';'';'; SELECT 2", ["SELECT ';', 'it''s;', ';'';'", 'SELECT 2']],
    [String.raw`SELECT E'\';', e'\\'; SELECT 2`, [String.raw`SELECT E'\';', e'\\'`, 'SELECT 2']],
    [String.raw`SELECT '\'; SELECT 2`, [String.raw`SELECT '\'`, 'SELECT 2']],
    ['SELECT ";", "a"";"; SELECT 2', ['SELECT ";", "a"";"', 'SELECT 2']],
    ["-- it's; not\nSELECT 1 -- a;\n; SELECT 2", ['SELECT 1', 'SELECT 2']],
    ["/* it's; not\n*/ SELECT /*;*/ 1; SELECT 2", ['SELECT   1', 'SELECT 2']],
    ['DO $$ BEGIN x; END $$; SELECT 2', ['DO $$ BEGIN x; END $$', 'SELECT 2']],
    ['DO $a$ $$;$$; $b$ $a$; SELECT 2', ['DO $a$ $$;$$; $b$ $a$', 'SELECT 2']],
    ["SELECT '$$;'; SELECT a$b$c; SELECT $1", ["SELECT '$$;'", 'SELECT a$b$c', 'SELECT $1']],
    ["SELECT '--;', '/*'; SELECT 2 -- */", ["SELECT '--;', '/*'", 'SELECT 2']],
  ])('splits %j into its statements', (script, expected) => {
    expect(splitStatements(script)).toEqual(expected);
  });
});
