import type { LeadFilter, LeadOrder, LeadPiece, LeadPosition, LeadSelection } from '../lead/lead-store.ts';
import type { LeadSearch, PhoneSearch } from '../lead/search.ts';
import { Prisma } from './generated/client.ts';

/*
 * The conditions of the list. Each is written as its index holds it (prisma/schema.prisma and the migrations), so
 * that none needs to look at every lead.
 */

/**
 * A selection whose campaign is known by its id: how many leads a campaign has, Postgres knows when it plans, but not
 * of one that it would have to look up by its code.
 */
export interface FoundSelection extends Omit<LeadSelection, 'filter'> {
  readonly filter: Omit<LeadFilter, 'campaignCode'> & { readonly campaignId?: string | undefined };
}

/** The leads of the workspace that a statement is for: row-level security would keep it from the indexes of searches. */
const searched = Prisma.sql`lead_of_workspace AS lead`;

/** The digits of a lead's phone number from the end, as the index has them. */
const phoneFromTheEnd = Prisma.sql`left(reverse(regexp_replace(coalesce(phone_e164, phone), '[^0-9]', '', 'g')), 32)`;

const times = { createdAt: Prisma.sql`created_at`, updatedAt: Prisma.sql`updated_at` } as const;
const directions = { ascending: Prisma.sql`ASC`, descending: Prisma.sql`DESC` } as const;

function direction(order: LeadOrder): Prisma.Sql {
  const toward = directions[order.direction];
  return Prisma.sql`${times[order.by]} ${toward}, id ${toward}`;
}

/**
 * The leads of a piece, as one statement or as two: where the first of two finds fewer than asked for, the second has
 * them all.
 *
 * Two are for conditions whose leads no index has in the order asked for. How many leads meet them, and where in the
 * order they lie, Postgres can only guess: left to itself it walks through a whole workspace for a word that is rare,
 * or fetches and sorts half of it for one that is common. The first statement walks, but not far; the second has to
 * use the index of the condition, and sorts.
 */
export function statementsOf(
  columns: Prisma.Sql,
  selection: FoundSelection,
  { limit, after }: LeadPiece,
): readonly [Prisma.Sql, Prisma.Sql?] {
  const { inOrder, others } = conditionsOf(selection, after);
  const ordered = Prisma.sql`ORDER BY ${direction(selection.order)}`;
  if (others.length === 0) {
    return [Prisma.sql`SELECT ${columns} FROM ${searched} WHERE ${all(inOrder)} ${ordered} LIMIT ${limit}`];
  }
  const near = selection.filter.search === undefined ? walk.column : walk.search;
  return [
    Prisma.sql`
      SELECT ${columns} FROM (SELECT * FROM ${searched} WHERE ${all(inOrder)} ${ordered} LIMIT ${near}) AS lead
      WHERE ${all(others)} ${ordered} LIMIT ${limit}`,
    Prisma.sql`
      WITH found AS MATERIALIZED (
        SELECT id, created_at, updated_at FROM ${searched} WHERE ${all([...inOrder, ...others])}
      )
      SELECT ${columns} FROM lead WHERE id IN (SELECT id FROM found ${ordered} LIMIT ${limit}) ${ordered}`,
  ];
}

/** How many leads are looked at one by one before an index is asked: fewer where looking means taking words apart. */
const walk = { column: 10_000, search: 3_000 } as const;

/** What every lead of a selection holds to. */
export function matching(selection: FoundSelection): Prisma.Sql {
  const { inOrder, others } = conditionsOf(selection);
  return all([...inOrder, ...others]);
}

/**
 * The conditions of a selection and of a position in it: those that have an index in its order, or that no more than
 * a few leads meet, and the others.
 */
function conditionsOf({ scope, filter, order }: FoundSelection, after?: LeadPosition) {
  const inOrder = [Prisma.sql`workspace_id = ${scope.workspaceId}::uuid`];
  const others: Prisma.Sql[] = [];
  const byCreation = order.by === 'createdAt' ? inOrder : others;
  const byUpdate = order.by === 'updatedAt' ? inOrder : others;
  const { status, campaignId, createdFrom, createdTo, updatedSince, phone, s1, lpName, source, search } =
    filter;
  if (scope.userId !== undefined) byCreation.push(Prisma.sql`user_id = ${scope.userId}::uuid`);
  if (status !== undefined) byCreation.push(Prisma.sql`status = ${status}::lead_status`);
  if (source !== undefined) byCreation.push(Prisma.sql`source = ${source}::lead_source`);
  if (campaignId !== undefined) byCreation.push(Prisma.sql`campaign_id = ${campaignId}::uuid`);
  if (createdFrom !== undefined) byCreation.push(Prisma.sql`created_at >= ${time(createdFrom)}`);
  if (createdTo !== undefined) byCreation.push(Prisma.sql`created_at < ${time(createdTo)}`);
  if (updatedSince !== undefined) byUpdate.push(Prisma.sql`updated_at >= ${time(updatedSince)}`);
  if (s1 !== undefined) inOrder.push(Prisma.sql`s1 = ${s1}`);
  if (lpName !== undefined) {
    // Not `lp_name = ...` beside it: the planner would take the two for independent of each other, and a landing
    // page's leads for few enough to sort.
    byCreation.push(Prisma.sql`left(lp_name, 255) = ${lpName} AND length(lp_name) <= 255`);
  }
  if (phone !== undefined) inOrder.push(hasPhone(phone));
  if (search !== undefined) others.push(isFoundBy(search));
  // The row comparison is what lets the index start at the position, so that page 1,000 costs as page 1.
  if (after !== undefined) {
    inOrder.push(
      Prisma.sql`(${times[order.by]}, id) ${beyond(order)} (${time(after.time)}, ${after.id}::uuid)`,
    );
  }
  return { inOrder, others };
}

function all(conditions: readonly Prisma.Sql[]): Prisma.Sql {
  return Prisma.join([...conditions], ' AND ');
}

/**
 * The leads of a piece without a filter, by creation: what is asked for most, as a statement to prepare under a name.
 *
 * Its values stand in sub-selects, where Postgres does not plan for them: it sees that the plan is the same for
 * all of them, keeps it, and saves a third of its time. There is but one good plan, along the index. With a filter
 * the best plan depends on the value, and each is planned for itself.
 *
 * @returns undefined for another piece.
 */
export function plainPiece(
  columns: Prisma.Sql,
  { scope, filter, order }: FoundSelection,
  { limit, after }: LeadPiece,
): { sql: Prisma.Sql; name: string } | undefined {
  if (order.by !== 'createdAt' || Object.values(filter).some((value) => value !== undefined))
    return undefined;
  const conditions = [Prisma.sql`workspace_id = (SELECT ${scope.workspaceId}::uuid)`];
  if (scope.userId !== undefined) conditions.push(Prisma.sql`user_id = (SELECT ${scope.userId}::uuid)`);
  if (after !== undefined) {
    conditions.push(
      Prisma.sql`(created_at, id) ${beyond(order)} ((SELECT ${time(after.time)}), (SELECT ${after.id}::uuid))`,
    );
  }
  const parts = ['list', order.direction, scope.userId && 'own', after && 'after'];
  return {
    sql: Prisma.sql`
      SELECT ${columns} FROM lead WHERE ${Prisma.join(conditions, ' AND ')}
      ORDER BY ${direction(order)} LIMIT (SELECT ${limit}::int8)`,
    name: parts.filter((part) => part !== undefined).join('_'),
  };
}

const beyond = (order: LeadOrder) => (order.direction === 'descending' ? Prisma.sql`<` : Prisma.sql`>`);

function time(date: Date): Prisma.Sql {
  return Prisma.sql`${date.toISOString()}::timestamptz`;
}

function hasPhone({ reversed, isWhole, e164, longer }: PhoneSearch): Prisma.Sql {
  if (isWhole) return Prisma.sql`${phoneFromTheEnd} = ${reversed}`;
  const endsSo = phoneEndsWith(reversed);
  if (e164 !== undefined) return Prisma.sql`${endsSo} AND (phone_e164 = ${e164} OR phone_e164 IS NULL)`;
  if (longer !== undefined) {
    return Prisma.sql`${endsSo} AND (phone_e164 IS NULL OR ${phoneFromTheEnd} LIKE ${`${longer}%`})`;
  }
  return endsSo;
}

/** By the operators of the index, byte by byte: `:` comes next after the digits. */
function phoneEndsWith(reversed: string): Prisma.Sql {
  return Prisma.sql`${phoneFromTheEnd} ~>=~ ${reversed} AND ${phoneFromTheEnd} ~<~ ${`${reversed}:`}`;
}

function isFoundBy({ words, phone, ids }: LeadSearch): Prisma.Sql {
  const found: Prisma.Sql[] = [];
  // Words have letters and digits only, so nothing in them needs escaping.
  const begin = (word: string) => `'${word}':*`;
  // The groups of a number, `44` and `20`, are no words: their beginnings are those of nearly all numbers.
  const query = phone === undefined ? words.map(begin).join(' & ') : begin(phone.digits);
  if (query !== '') found.push(Prisma.sql`array_to_tsvector(words) @@ ${query}::tsquery`);
  if (phone !== undefined) found.push(Prisma.sql`(${phoneEndsWith(phone.reversed)})`);
  if (ids !== undefined) found.push(Prisma.sql`id BETWEEN ${ids.first}::uuid AND ${ids.last}::uuid`);
  return found.length === 0 ? Prisma.sql`false` : Prisma.sql`(${Prisma.join(found, ' OR ')})`;
}
