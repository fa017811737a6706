import { type AlterTableCmd, type Constraint, type Node, parse } from 'libpg-query';
import { runsInTransaction, splitStatements } from '../src/db-admin/migration-script.ts';

/** The rules, each with the harm that a statement can do to the previous release or to other sessions. */
const rules = {
  drop: 'the previous release may still use the dropped object',
  rename: 'the previous release knows only the old name',
  retype: 'Postgres rewrites the table, and the previous release expects the old type',
  'enum-value': 'the previous release cannot read the new value',
  'not-null': 'Postgres scans the locked table, and the previous release may omit the column',
  default: 'Postgres rewrites the table if the default differs from row to row',
  constraint: 'Postgres scans the locked table: add it NOT VALID, and VALIDATE it in a later migration',
  index: 'the statement blocks writes: use CONCURRENTLY, in a migration without a transaction',
  backfill: 'rows stay locked until all are written: update them in batches',
  lock: 'the table stays locked for a long time',
  'in-transaction': 'the statement cannot run in a transaction',
  repeat: 'without a transaction a statement may run again: use IF NOT EXISTS or IF EXISTS',
  split: 'the script cannot be split into its statements',
} as const;
type Rule = keyof typeof rules;

/** Matches an exception to a rule, with its reason: `-- leads: allow drop: no release since 1.3 reads it`. */
const allowance = /^-- leads: allow ([a-z-]+): \S.*$/gm;

/**
 * Returns the problems of a migration, one line each: statements that break the previous release or lock a table for a
 * long time. The file can allow each rule with a reason. Tables that the migration itself creates are exempt, since no
 * other session uses them yet.
 */
export async function lintMigration(script: string): Promise<string[]> {
  const { stmts = [] } = await parse(script);
  const isTransaction = runsInTransaction(script);
  const own = new Set<string | undefined>();
  const found: Rule[] = [];
  if (!isTransaction && splitStatements(script).length !== stmts.length) found.push('split');
  for (const { stmt } of stmts) {
    if (stmt === undefined) continue;
    if ('CreateStmt' in stmt) own.add(stmt.CreateStmt.relation?.relname);
    found.push(
      ...problemsOf(stmt, own),
      ...(isTransaction ? transactionProblems(stmt) : repeatProblems(stmt)),
    );
  }
  const allowed = new Set([...script.matchAll(allowance)].map(([, rule]) => rule));
  const unknown = [...allowed].filter((rule) => !(rule !== undefined && rule in rules));
  return [
    ...unknown.map((rule) => `unknown rule ${rule}`),
    ...[...new Set(found)].filter((rule) => !allowed.has(rule)).map((rule) => `${rule}: ${rules[rule]}`),
  ];
}

function problemsOf(stmt: Node, own: ReadonlySet<string | undefined>): Rule[] {
  if ('DropStmt' in stmt) return stmt.DropStmt.removeType === 'OBJECT_INDEX' ? [] : ['drop'];
  if ('TruncateStmt' in stmt) return ['drop'];
  if ('RenameStmt' in stmt) return ['rename'];
  if ('AlterEnumStmt' in stmt) return ['enum-value'];
  if ('AlterTableStmt' in stmt) {
    const { relation, cmds = [] } = stmt.AlterTableStmt;
    if (own.has(relation?.relname)) return [];
    return cmds.flatMap((cmd) => ('AlterTableCmd' in cmd ? tableProblems(cmd.AlterTableCmd) : []));
  }
  if ('IndexStmt' in stmt) {
    const { concurrent, relation } = stmt.IndexStmt;
    return concurrent === true || own.has(relation?.relname) ? [] : ['index'];
  }
  if ('UpdateStmt' in stmt) return own.has(stmt.UpdateStmt.relation?.relname) ? [] : ['backfill'];
  if ('DeleteStmt' in stmt) return own.has(stmt.DeleteStmt.relation?.relname) ? [] : ['backfill'];
  if ('LockStmt' in stmt || 'ClusterStmt' in stmt) return ['lock'];
  return [];
}

function tableProblems(cmd: AlterTableCmd): Rule[] {
  switch (cmd.subtype) {
    case 'AT_DropColumn':
      return ['drop'];
    case 'AT_AlterColumnType':
      return ['retype'];
    case 'AT_SetNotNull':
      return ['not-null'];
    case 'AT_AddConstraint':
      return cmd.def !== undefined && 'Constraint' in cmd.def ? constraintProblems(cmd.def.Constraint) : [];
    case 'AT_AddColumn': {
      const column = cmd.def !== undefined && 'ColumnDef' in cmd.def ? cmd.def.ColumnDef : {};
      const constraints = (column.constraints ?? []).flatMap((each) =>
        'Constraint' in each ? [each.Constraint] : [],
      );
      const hasDefault = constraints.some(({ contype }) => contype === 'CONSTR_DEFAULT');
      return constraints.flatMap((each): Rule[] => {
        if (each.contype === 'CONSTR_NOTNULL') return hasDefault ? [] : ['not-null'];
        if (each.contype === 'CONSTR_DEFAULT') return isConstant(each.raw_expr) ? [] : ['default'];
        if (each.contype === 'CONSTR_GENERATED' || each.contype === 'CONSTR_IDENTITY') return ['default'];
        return constraintProblems(each);
      });
    }
    default:
      return [];
  }
}

function constraintProblems(constraint: Constraint): Rule[] {
  const { contype, skip_validation: isUnchecked, indexname } = constraint;
  if (contype === 'CONSTR_NULL') return [];
  if (contype === 'CONSTR_CHECK' || contype === 'CONSTR_FOREIGN')
    return isUnchecked === true ? [] : ['constraint'];
  return indexname === undefined ? ['constraint'] : [];
}

/** Whether Postgres stores the default once for all existing rows (ALTER TABLE, notes on ADD COLUMN), as for now(). */
function isConstant(expression: Node | undefined): boolean {
  if (expression === undefined) return false;
  if ('A_Const' in expression || 'SQLValueFunction' in expression) return true;
  if ('TypeCast' in expression) return isConstant(expression.TypeCast.arg);
  if ('A_ArrayExpr' in expression) return (expression.A_ArrayExpr.elements ?? []).every(isConstant);
  return false;
}

function transactionProblems(stmt: Node): Rule[] {
  const isConcurrent =
    ('IndexStmt' in stmt && stmt.IndexStmt.concurrent === true) ||
    ('DropStmt' in stmt && stmt.DropStmt.concurrent === true);
  if (isConcurrent || 'VacuumStmt' in stmt || 'ReindexStmt' in stmt) return ['in-transaction'];
  return 'DropStmt' in stmt && stmt.DropStmt.removeType === 'OBJECT_INDEX' ? ['index'] : [];
}

function repeatProblems(stmt: Node): Rule[] {
  if ('IndexStmt' in stmt) return stmt.IndexStmt.if_not_exists === true ? [] : ['repeat'];
  if ('CreateStmt' in stmt) return stmt.CreateStmt.if_not_exists === true ? [] : ['repeat'];
  if ('DropStmt' in stmt) return stmt.DropStmt.missing_ok === true ? [] : ['repeat'];
  if ('AlterEnumStmt' in stmt) return stmt.AlterEnumStmt.skipIfNewValExists === true ? [] : ['repeat'];
  if ('AlterTableStmt' in stmt) {
    const isRepeatable = (stmt.AlterTableStmt.cmds ?? []).every(
      (cmd) =>
        'AlterTableCmd' in cmd &&
        (cmd.AlterTableCmd.missing_ok === true ||
          /^AT_(?:ValidateConstraint|SetNotNull|DropNotNull|ColumnDefault)$/.test(
            cmd.AlterTableCmd.subtype ?? '',
          )),
    );
    return isRepeatable ? [] : ['repeat'];
  }
  return [];
}
