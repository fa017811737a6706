import { type AlterTableCmd, type Constraint, type Node, parse } from 'libpg-query';
import { runsInTransaction, splitStatements } from '../src/db-admin/migration-script.ts';

/** What a statement of a migration may do to the release before, or to whoever uses the table meanwhile. */
const rules = {
  drop: 'the release before may still use what is dropped',
  rename: 'the release before knows the old name only',
  retype: 'the table is written anew, and the release before expects the old type',
  'enum-value': 'the release before cannot read the new value',
  'not-null': 'the table is read whole while it is locked, and the release before may leave the column out',
  default: 'the table is written anew where a default differs from row to row',
  constraint:
    'the table is read whole while it is locked: add it NOT VALID, and VALIDATE it in a migration after',
  index: 'nobody can write meanwhile: use CONCURRENTLY, in a migration without a transaction',
  backfill: 'rows stay locked until all are written: do it in batches',
  lock: 'the table is locked for long',
  'in-transaction': 'this cannot run in a transaction',
  repeat: 'without a transaction a statement may be run again: IF NOT EXISTS, IF EXISTS',
  split: 'the statements cannot be told apart',
} as const;
type Rule = keyof typeof rules;

/** A reason in the file, as `-- leads: allow drop: no release since 1.3 reads it`. */
const allowance = /^-- leads: allow ([a-z-]+): \S.*$/gm;

/**
 * What is wrong with a migration, one line each: what breaks the release before or locks a table for long, and is not
 * allowed by the file with a reason. Tables that the migration makes itself are nobody's yet.
 */
export async function lintMigration(script: string): Promise<string[]> {
  const { stmts = [] } = await parse(script);
  const isWhole = runsInTransaction(script);
  const own = new Set<string | undefined>();
  const found: Rule[] = [];
  if (!isWhole && splitStatements(script).length !== stmts.length) found.push('split');
  for (const { stmt } of stmts) {
    if (stmt === undefined) continue;
    if ('CreateStmt' in stmt) own.add(stmt.CreateStmt.relation?.relname);
    found.push(...faultsOf(stmt, own), ...(isWhole ? wholeFaults(stmt) : aloneFaults(stmt)));
  }
  const allowed = new Set([...script.matchAll(allowance)].map(([, rule]) => rule));
  const unknown = [...allowed].filter((rule) => !(rule !== undefined && rule in rules));
  return [
    ...unknown.map((rule) => `there is no rule ${rule}`),
    ...[...new Set(found)].filter((rule) => !allowed.has(rule)).map((rule) => `${rule}: ${rules[rule]}`),
  ];
}

function faultsOf(stmt: Node, own: ReadonlySet<string | undefined>): Rule[] {
  if ('DropStmt' in stmt) return stmt.DropStmt.removeType === 'OBJECT_INDEX' ? [] : ['drop'];
  if ('TruncateStmt' in stmt) return ['drop'];
  if ('RenameStmt' in stmt) return ['rename'];
  if ('AlterEnumStmt' in stmt) return ['enum-value'];
  if ('AlterTableStmt' in stmt) {
    const { relation, cmds = [] } = stmt.AlterTableStmt;
    if (own.has(relation?.relname)) return [];
    return cmds.flatMap((cmd) => ('AlterTableCmd' in cmd ? tableFaults(cmd.AlterTableCmd) : []));
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

function tableFaults(cmd: AlterTableCmd): Rule[] {
  switch (cmd.subtype) {
    case 'AT_DropColumn':
      return ['drop'];
    case 'AT_AlterColumnType':
      return ['retype'];
    case 'AT_SetNotNull':
      return ['not-null'];
    case 'AT_AddConstraint':
      return cmd.def !== undefined && 'Constraint' in cmd.def ? constraintFaults(cmd.def.Constraint) : [];
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
        return constraintFaults(each);
      });
    }
    default:
      return [];
  }
}

function constraintFaults(constraint: Constraint): Rule[] {
  const { contype, skip_validation: isUnchecked, indexname } = constraint;
  if (contype === 'CONSTR_NULL') return [];
  if (contype === 'CONSTR_CHECK' || contype === 'CONSTR_FOREIGN')
    return isUnchecked === true ? [] : ['constraint'];
  return indexname === undefined ? ['constraint'] : [];
}

/** Postgres keeps one value for all rows that are there (ALTER TABLE, notes on ADD COLUMN), of now() too. */
function isConstant(expression: Node | undefined): boolean {
  if (expression === undefined) return false;
  if ('A_Const' in expression || 'SQLValueFunction' in expression) return true;
  if ('TypeCast' in expression) return isConstant(expression.TypeCast.arg);
  if ('A_ArrayExpr' in expression) return (expression.A_ArrayExpr.elements ?? []).every(isConstant);
  return false;
}

function wholeFaults(stmt: Node): Rule[] {
  const isConcurrent =
    ('IndexStmt' in stmt && stmt.IndexStmt.concurrent === true) ||
    ('DropStmt' in stmt && stmt.DropStmt.concurrent === true);
  if (isConcurrent || 'VacuumStmt' in stmt || 'ReindexStmt' in stmt) return ['in-transaction'];
  return 'DropStmt' in stmt && stmt.DropStmt.removeType === 'OBJECT_INDEX' ? ['index'] : [];
}

function aloneFaults(stmt: Node): Rule[] {
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
