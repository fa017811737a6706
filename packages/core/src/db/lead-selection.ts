import type { LeadFilter, PageBounds, LeadPosition, LeadSelection } from '../lead/lead-store.ts';
import type { LeadSearch, PhoneSearch } from '../lead/search.ts';
import type { OptionalSortField } from '../lead/sort-fields.ts';
import { Prisma } from './generated/client.ts';
import {
  beyond,
  direction,
  isBeyond,
  orders,
  statusesBeyond,
  timestamp,
  valuesBeyond,
} from './lead-orders.ts';

/*
 * The conditions of the lead list. Each matches the expression of its index (prisma/schema.prisma and the migrations),
 * so that no query scans all leads.
 */

/**
 * A selection with the id of its campaign instead of the code. The planner of Postgres can estimate the number of leads
 * for an id, but not for an id that the statement itself looks up by a code.
 */
export interface FoundSelection extends Omit<LeadSelection, 'filter'> {
  readonly filter: Omit<LeadFilter, 'campaignCode'> & {
    readonly campaignId?: string | undefined;
    /** The campaigns that the search finds. */
    readonly searchedCampaignIds?: readonly string[] | undefined;
  };
}

/**
 * The leads of the acting workspace. The view is read instead of the table, since row-level security prevents the use of
 * the search indexes.
 */
const searched = Prisma.sql`lead_of_workspace AS lead`;

/** The digits of the end of a lead's phone number, in reverse order. It must equal the expression of the index. */
const phoneFromTheEnd = Prisma.sql`phone_end(phone_e164, phone)`;

/** The columns that a lead can be without. */
const optionalColumns: Readonly<Record<OptionalSortField, Prisma.Sql>> = {
  country: Prisma.sql`country`,
  s1: Prisma.sql`s1`,
  lpName: Prisma.sql`lp_name`,
  assignee: Prisma.sql`assignee_id`,
  callbackAt: Prisma.sql`callback_at`,
};

/**
 * Returns the statements that read a page of a selection: one, or two. If the first of two finds fewer leads than the
 * limit, the caller runs the second, which finds all of them.
 *
 * Two statements are for conditions that have no index in the requested order. Postgres can only guess how many leads
 * match, and at which positions. With one statement, it scans a whole workspace for a rare word, or fetches and sorts
 * half of the workspace for a common word. The first statement scans in order, up to a limit. The second is forced to
 * use the index of the condition, and sorts.
 */
export function statementsOf(
  columns: Prisma.Sql,
  selection: FoundSelection,
  { limit, after }: PageBounds,
): readonly [Prisma.Sql, Prisma.Sql?] {
  const { inOrder, branches, others, searches } = conditionsOf(selection, after);
  const unindexed = [...others, ...searches];
  const ordered = Prisma.sql`ORDER BY ${direction(selection.order)}`;
  /** Returns the first leads that meet the conditions `inOrder`. */
  const firstLeads = (selected: Prisma.Sql, count: number) => {
    const first = (condition?: Prisma.Sql) => {
      const conditions = condition === undefined ? inOrder : [...inOrder, condition];
      const what = condition === undefined ? selected : Prisma.sql`*`;
      return Prisma.sql`SELECT ${what} FROM ${searched} WHERE ${all(conditions)} ${ordered} LIMIT ${count}`;
    };
    if (branches.length === 0) return first();
    const each = Prisma.join(
      branches.map((branch) => Prisma.sql`(${first(branch)})`),
      ' UNION ALL ',
    );
    return Prisma.sql`SELECT ${selected} FROM (${each}) AS lead ${ordered} LIMIT ${count}`;
  };
  const { ids, search, searchedCampaignIds } = selection.filter;
  if (unindexed.length === 0 && ids === undefined) return [firstLeads(columns, limit)];
  const scanLimit = search === undefined ? scanLimits.column : scanLimits.search;
  const columnsOfFound = Prisma.sql`id, created_at, updated_at${orders[selection.order.by].others ?? Prisma.empty}`;
  const unsearched = [...inOrder, ...anyOf(branches), ...others];
  const found =
    search === undefined || searchedCampaignIds === undefined || selection.order.by !== 'createdAt'
      ? Prisma.sql`SELECT ${columnsOfFound} FROM ${searched} WHERE ${all([...unsearched, ...searches])}`
      : // A campaign can have most of the leads. Its index has them in order, so only one page of them is read.
        Prisma.join(
          [
            Prisma.sql`SELECT ${columnsOfFound} FROM ${searched} WHERE ${all([...unsearched, isFoundBy(search)])}`,
            ...searchedCampaignIds.map(
              (id) => Prisma.sql`(
                SELECT ${columnsOfFound} FROM ${searched} WHERE ${all(unsearched)} AND campaign_id = ${id}::uuid
                ${ordered} LIMIT ${limit}
              )`,
            ),
          ],
          ' UNION ',
        );
  const sorted = Prisma.sql`
    WITH found AS MATERIALIZED (${found})
    SELECT ${columns} FROM lead WHERE id IN (SELECT id FROM found ${ordered} LIMIT ${limit}) ${ordered}`;
  // Leads that are named by their ids are few. In the requested order, Postgres might pass all others.
  if (ids !== undefined) return [sorted];
  return [
    Prisma.sql`
      SELECT ${columns} FROM (${firstLeads(Prisma.sql`*`, scanLimit)}) AS lead
      WHERE ${all(unindexed)} ${ordered} LIMIT ${limit}`,
    sorted,
  ];
}

/** The maximum leads that the first statement scans. The limit of searches is lower, because matching words is slower. */
const scanLimits = { column: 10_000, search: 3_000 } as const;

/** Returns the condition that all leads of a selection meet. */
export function matching(selection: FoundSelection): Prisma.Sql {
  const { inOrder, branches, others, searches } = conditionsOf(selection);
  return all([...inOrder, ...anyOf(branches), ...others, ...searches]);
}

/** Returns the condition that a lead meets one of the branches; no condition without branches. */
function anyOf(branches: readonly Prisma.Sql[]): readonly Prisma.Sql[] {
  return branches.length === 0 ? [] : [Prisma.sql`(${Prisma.join([...branches], ' OR ')})`];
}

/**
 * Returns the conditions of a selection and of a position in it, in groups. Conditions `inOrder` have an index in the
 * selection's order, or only a few leads meet them. If there are `branches`, a lead also meets one of them. An index has
 * the leads of each branch in the selection's order, but not those of several. `searches` has the condition of the search,
 * if there is one.
 */
function conditionsOf({ scope, filter, order }: FoundSelection, after?: LeadPosition) {
  const inOrder = [Prisma.sql`workspace_id = ${scope.workspaceId}::uuid`];
  const others: Prisma.Sql[] = [];
  let branches: Prisma.Sql[] = [];
  const byCreation = order.by === 'createdAt' ? inOrder : others;
  const byUpdate = order.by === 'updatedAt' ? inOrder : others;
  const {
    statuses,
    user,
    campaignId,
    createdFrom,
    createdTo,
    updatedSince,
    phone,
    s1,
    lpName,
    country,
    source,
  } = filter;
  const { ids, search, searchedCampaignIds, assigneeId, isCallbackDue, has, paymentId } = filter;
  const isByStatus = order.by === 'status' && statuses !== undefined;
  if (scope.userId !== undefined) byCreation.push(Prisma.sql`user_id = ${scope.userId}::uuid`);
  if (user !== undefined) byCreation.push(Prisma.sql`user_id = ${user}::uuid`);
  if (statuses !== undefined) {
    const ofStatus = statuses.map((status) => Prisma.sql`status = ${status}::lead_status`);
    if (ofStatus.length === 1) byCreation.push(...ofStatus);
    else if (order.by === 'createdAt') branches = ofStatus;
    else if (isByStatus) branches = statusesBeyond(statuses, order, after);
    else others.push(...anyOf(ofStatus));
  }
  if (source !== undefined) byCreation.push(Prisma.sql`source = ${source}::lead_source`);
  if (campaignId !== undefined) byCreation.push(Prisma.sql`campaign_id = ${campaignId}::uuid`);
  if (createdFrom !== undefined) byCreation.push(Prisma.sql`created_at >= ${timestamp(createdFrom)}`);
  if (createdTo !== undefined) byCreation.push(Prisma.sql`created_at < ${timestamp(createdTo)}`);
  if (updatedSince !== undefined) byUpdate.push(Prisma.sql`updated_at >= ${timestamp(updatedSince)}`);
  if (s1 !== undefined) inOrder.push(Prisma.sql`s1 = ${s1}`);
  if (lpName !== undefined) {
    // There is no second condition `lp_name = ...`, because the planner would treat the two as independent. It would then
    // underestimate the leads of a landing page, and sort them.
    byCreation.push(Prisma.sql`left(lp_name, 255) = ${lpName} AND length(lp_name) <= 255`);
  }
  if (country !== undefined) {
    byCreation.push(Prisma.sql`left(country, 64) = left(${country}, 64)`);
  }
  if (phone !== undefined) inOrder.push(hasPhone(phone));
  if (ids !== undefined) inOrder.push(Prisma.sql`id = ANY (${ids}::uuid[])`);
  if (assigneeId === null) others.push(Prisma.sql`assignee_id IS NULL`);
  else if (assigneeId !== undefined) byCreation.push(Prisma.sql`assignee_id = ${assigneeId}::uuid`);
  if (isCallbackDue) inOrder.push(Prisma.sql`callback_at <= now()`);
  if (has !== undefined)
    (order.by === has ? inOrder : others).push(Prisma.sql`${optionalColumns[has]} IS NOT NULL`);
  // The index of campaigns has the leads of all workspaces.
  if (order.by === 'campaign') {
    inOrder.push(Prisma.sql`campaign_id = ANY (ARRAY(
      SELECT id FROM campaign WHERE workspace_id = ${scope.workspaceId}::uuid
    ))`);
  }
  if (paymentId !== undefined) {
    others.push(Prisma.sql`id IN (
      SELECT lead_id FROM payment_lead WHERE payment_id = ${paymentId}::uuid AND workspace_id = ${scope.workspaceId}::uuid
    )`);
  }
  const searches = search === undefined ? [] : [isFoundBy(search, searchedCampaignIds)];
  // With a row comparison, the index scan starts at the position, so page 1,000 costs the same as page 1.
  const ofValue = orders[order.by].value;
  if (after !== undefined) {
    if (ofValue === undefined) inOrder.push(isBeyond(order, after));
    else if (!isByStatus) branches = valuesBeyond(ofValue, order, after);
  }
  return { inOrder, branches, others, searches };
}

function all(conditions: readonly Prisma.Sql[]): Prisma.Sql {
  return Prisma.join([...conditions], ' AND ');
}

/**
 * Returns the statement of a page without a filter, in the order of creation, to prepare under a name. It is the most
 * frequent query.
 *
 * The values are in sub-selects, because Postgres then plans without them. It keeps one generic plan for all values,
 * which saves a third of the time. The only good plan here is a scan of the index. With a filter, the best plan depends
 * on the value, so Postgres plans each query.
 *
 * @returns undefined if the selection has a filter or another order.
 */
export function unfilteredStatement(
  kind: 'list' | 'export',
  columns: Prisma.Sql,
  { scope, filter, order }: FoundSelection,
  { limit, after }: PageBounds,
): { sql: Prisma.Sql; name: string } | undefined {
  if (order.by !== 'createdAt' || Object.values(filter).some((value) => value !== undefined))
    return undefined;
  const conditions = [Prisma.sql`workspace_id = (SELECT ${scope.workspaceId}::uuid)`];
  if (scope.userId !== undefined) conditions.push(Prisma.sql`user_id = (SELECT ${scope.userId}::uuid)`);
  if (after !== undefined) {
    conditions.push(
      Prisma.sql`(created_at, id) ${beyond(order)} ((SELECT ${timestamp(after.time)}), (SELECT ${after.id}::uuid))`,
    );
  }
  const parts = [kind, order.direction, scope.userId && 'own', after && 'after'];
  return {
    // The columns are outside, because the planner multiplies their cost by all leads that may match. It would then treat
    // the costs of the two indexes of the list as equal.
    sql: Prisma.sql`
      SELECT ${columns} FROM (
        SELECT * FROM lead WHERE ${Prisma.join(conditions, ' AND ')}
        ORDER BY ${direction(order)} LIMIT (SELECT ${limit}::int8)
      ) AS lead ORDER BY ${direction(order)}`,
    name: parts.filter((part) => part !== undefined).join('_'),
  };
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

/** Returns a prefix condition with the operators of the index, which compare bytes: `:` is the byte after `9`. */
function phoneEndsWith(reversed: string): Prisma.Sql {
  return Prisma.sql`${phoneFromTheEnd} ~>=~ ${reversed} AND ${phoneFromTheEnd} ~<~ ${`${reversed}:`}`;
}

function isFoundBy({ text, words, phone, ids }: LeadSearch, campaignIds?: readonly string[]): Prisma.Sql {
  const found = [Prisma.sql`s1 = ${text}`];
  // Words have letters and digits only, so nothing in them needs escaping.
  const begin = (word: string) => `'${word}':*`;
  // The groups of a phone number, such as `44` and `20`, are not searched as words: they match nearly all numbers.
  const query = phone === undefined ? words.map(begin).join(' & ') : begin(phone.digits);
  if (query !== '') found.push(Prisma.sql`array_to_tsvector(words) @@ ${query}::tsquery`);
  if (phone !== undefined) found.push(Prisma.sql`(${phoneEndsWith(phone.reversed)})`);
  if (ids !== undefined) found.push(Prisma.sql`id BETWEEN ${ids.first}::uuid AND ${ids.last}::uuid`);
  if (campaignIds !== undefined) found.push(Prisma.sql`campaign_id = ANY (${campaignIds}::uuid[])`);
  return Prisma.sql`(${Prisma.join(found, ' OR ')})`;
}
