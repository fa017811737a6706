import { expect, test } from 'vitest';
import { migrationSql, migrations } from '../../test/database.ts';
import { lintMigration } from '../../test/migration-lint.ts';

/** The last migration from before the rules. No deployment runs a release of that time. */
const lastWithoutRules = '20261122110000_lead_quarantine';

test.each(migrations.filter((name) => name > lastWithoutRules).concat(lastWithoutRules))(
  'the migration %s follows the rules or gives its reasons',
  async (name) => {
    expect(await lintMigration(migrationSql(name))).toEqual([]);
  },
);

test('lintMigration reports the problems of a migration from before the rules', async () => {
  const problems = await lintMigration(migrationSql('20261121180000_lead_lifecycle'));
  const violated = problems.map((problem) => problem.split(':')[0]);
  expect(new Set(violated)).toEqual(new Set(['backfill', 'constraint', 'index', 'not-null']));
});

const alone = '-- leads: no transaction\n';

test.each<[sql: string, rules: string[]]>([
  ['ALTER TABLE lead ADD COLUMN a TEXT;', []],
  ["ALTER TABLE lead ADD COLUMN a TEXT NOT NULL DEFAULT 'x', ADD b TEXT[] DEFAULT ARRAY[]::TEXT[];", []],
  ['ALTER TABLE lead ADD COLUMN a TIMESTAMPTZ DEFAULT CURRENT_TIMESTAMP;', []],
  ['ALTER TABLE lead ADD COLUMN a UUID DEFAULT gen_random_uuid();', ['default']],
  ['ALTER TABLE lead ADD COLUMN a INT GENERATED ALWAYS AS (version + 1) STORED;', ['default']],
  ['ALTER TABLE lead ADD COLUMN a TEXT NOT NULL;', ['not-null']],
  ['ALTER TABLE lead ALTER a SET NOT NULL;', ['not-null']],
  ['ALTER TABLE lead DROP COLUMN a;', ['drop']],
  ['DROP TABLE lead;', ['drop']],
  ['DROP FUNCTION f;', ['drop']],
  ['ALTER TABLE lead DROP CONSTRAINT a;', []],
  ['ALTER TABLE lead RENAME a TO b;', ['rename']],
  ['ALTER TABLE lead RENAME TO prospect;', ['rename']],
  ['ALTER TABLE lead ALTER a TYPE BIGINT;', ['retype']],
  ["ALTER TYPE lead_status ADD VALUE 'Lost';", ['enum-value']],
  ['ALTER TABLE lead ADD CONSTRAINT c CHECK (a > 0);', ['constraint']],
  ['ALTER TABLE lead ADD CONSTRAINT c CHECK (a > 0) NOT VALID;', []],
  ['ALTER TABLE lead ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES b (id);', ['constraint']],
  ['ALTER TABLE lead ADD CONSTRAINT c UNIQUE (a);', ['constraint']],
  ['ALTER TABLE lead ADD CONSTRAINT c UNIQUE USING INDEX i;', []],
  ['CREATE INDEX i ON lead (a);', ['index']],
  ['DROP INDEX i;', ['index']],
  ['CREATE TABLE t (a INT); CREATE INDEX i ON t (a); ALTER TABLE t ADD CHECK (a > 0);', []],
  ["UPDATE lead SET city = 'x' WHERE city IS NULL;", ['backfill']],
  ['LOCK TABLE lead;', ['lock']],
  ['CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON lead (a);', ['in-transaction']],
  [`${alone}CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON lead (a); VACUUM lead;`, []],
  [`${alone}CREATE INDEX CONCURRENTLY i ON lead (a);`, ['repeat']],
  [`${alone}DROP INDEX CONCURRENTLY IF EXISTS i;`, []],
  [`${alone}DROP INDEX CONCURRENTLY i;`, ['repeat']],
  [`${alone}ALTER TABLE lead VALIDATE CONSTRAINT c;`, []],
  [`${alone}ALTER TABLE lead ADD COLUMN a TEXT;`, ['repeat']],
  [`${alone}CREATE OR REPLACE FUNCTION f() RETURNS INT BEGIN ATOMIC SELECT 1; SELECT 2; END;`, ['split']],
  [
    '-- leads: allow drop: no release since 1.2 reads it\nALTER TABLE lead DROP a, ALTER b SET NOT NULL;',
    ['not-null'],
  ],
  ['-- leads: allow drop:\nALTER TABLE lead DROP a;', ['drop']],
  ['-- leads: allow anything: why not\nSELECT 1;', ['unknown rule anything']],
])('lintMigration checks %s against the rules', async (sql, expected) => {
  const problems = await lintMigration(sql);
  expect(problems.map((problem) => problem.replace(/: .*$/, ''))).toEqual(expected);
});
