import type { LeadOrder, LeadPosition } from '../lead/lead-store.ts';
import { type LeadStatus, leadStatuses } from '../lead/lead-transitions.ts';
import { isNewestFirst, type SortField } from '../lead/sort-fields.ts';
import { Prisma } from './generated/client.ts';
import { callbackColumn } from './scanned-lead.ts';

/* The orders of the lead list, and the conditions that a lead is beyond a position in an order. */

/** An order of the list. It must equal the columns of its index after the workspace. */
interface IndexedOrder {
  /** The value before the time, and the name of its type. */
  readonly value?: readonly [expression: Prisma.Sql, type: Prisma.Sql];
  readonly time: Prisma.Sql;
  /** Its columns other than the times and the id, each after a comma. */
  readonly others?: Prisma.Sql;
}

const createdAt = Prisma.sql`created_at`;
const textType = Prisma.sql`text`;
const uuidType = Prisma.sql`uuid`;
export const orders: Readonly<Record<SortField, IndexedOrder>> = {
  createdAt: { time: createdAt },
  updatedAt: { time: Prisma.sql`updated_at` },
  callbackAt: { time: Prisma.sql`callback_at`, others: Prisma.sql`, callback_at` },
  status: {
    value: [Prisma.sql`status`, Prisma.sql`lead_status`],
    time: createdAt,
    others: Prisma.sql`, status`,
  },
  source: {
    value: [Prisma.sql`source`, Prisma.sql`lead_source`],
    time: createdAt,
    others: Prisma.sql`, source`,
  },
  country: {
    value: [Prisma.sql`left(country, 64)`, textType],
    time: createdAt,
    others: Prisma.sql`, country`,
  },
  campaign: {
    value: [Prisma.sql`campaign_id`, uuidType],
    time: createdAt,
    others: Prisma.sql`, campaign_id`,
  },
  user: { value: [Prisma.sql`user_id`, uuidType], time: createdAt, others: Prisma.sql`, user_id` },
  assignee: {
    value: [Prisma.sql`assignee_id`, uuidType],
    time: createdAt,
    others: Prisma.sql`, assignee_id`,
  },
  s1: { value: [Prisma.sql`s1`, textType], time: createdAt, others: Prisma.sql`, s1` },
  lpName: {
    value: [Prisma.sql`left(lp_name, 255)`, textType],
    time: createdAt,
    others: Prisma.sql`, lp_name`,
  },
};

const directions = { ascending: Prisma.sql`ASC`, descending: Prisma.sql`DESC` } as const;

/** Returns the columns of an `ORDER BY`, with their directions. */
export function direction(order: LeadOrder): Prisma.Sql {
  const { value, time: by } = orders[order.by];
  const first = value === undefined ? Prisma.empty : Prisma.sql`${value[0]} ${directions[order.direction]}, `;
  const toward = directions[withinValue(order).direction];
  return Prisma.sql`${first}${by} ${toward}, id ${toward}`;
}

/** Returns the order of the leads of one value. */
function withinValue(order: LeadOrder): LeadOrder {
  return isNewestFirst(order.by) ? opposite(order) : order;
}

/** Returns an order in the opposite direction. */
export function opposite({ by, direction: toward }: LeadOrder): LeadOrder {
  return { by, direction: toward === 'ascending' ? 'descending' : 'ascending' };
}

/** Returns the condition that a lead is beyond a position in an order by a time, or among leads of one value. */
export function isBeyond(order: LeadOrder, { time: at, id }: LeadPosition): Prisma.Sql {
  return Prisma.sql`(${orders[order.by].time}, id) ${beyond(withinValue(order))} (${timestamp(at)}, ${id}::uuid)`;
}

/**
 * The value of {@link LeadEnd}, as text, for each order that has one. It has a name of its own, because `ORDER BY status`
 * would mean a column of the result that is named `status`.
 */
export const valueColumns: Readonly<Partial<Record<SortField, Prisma.Sql>>> = {
  callbackAt: Prisma.raw(`${callbackColumn} AS value`),
  status: Prisma.sql`status::text AS value`,
  source: Prisma.sql`source::text AS value`,
  campaign: Prisma.sql`campaign_id::text AS value`,
  user: Prisma.sql`user_id::text AS value`,
  country: Prisma.sql`left(country, 64) AS value`,
  s1: Prisma.sql`s1 AS value`,
  lpName: Prisma.sql`left(lp_name, 255) AS value`,
  assignee: Prisma.sql`assignee_id::text AS value`,
};

/**
 * Returns two conditions for the leads beyond a position in an order by a value: those of the same value, and those of the
 * next values. Postgres estimates a comparison of rows by the value alone. It expected no lead after the last value, and
 * read all leads of that value.
 */
export function valuesBeyond(
  [expression, type]: NonNullable<IndexedOrder['value']>,
  order: LeadOrder,
  after: LeadPosition,
): Prisma.Sql[] {
  const value = Prisma.sql`${after.value}::${type}`;
  return [
    Prisma.sql`(${expression} = ${value} AND ${isBeyond(order, after)})`,
    Prisma.sql`${expression} ${beyond(order)} ${value}`,
  ];
}

/** Returns a condition like those of {@link valuesBeyond} for each status of a filter. */
export function statusesBeyond(
  statuses: readonly LeadStatus[],
  order: LeadOrder,
  after: LeadPosition | undefined,
): Prisma.Sql[] {
  const sign = order.direction === 'ascending' ? 1 : -1;
  const from = leadStatuses.findIndex((status) => status === after?.value);
  return statuses
    .map((status) => ({ status, distance: sign * (leadStatuses.indexOf(status) - from) }))
    .filter(({ distance }) => after === undefined || distance >= 0)
    .map(({ status, distance }) => {
      const isOf = Prisma.sql`status = ${status}::lead_status`;
      return after === undefined || distance > 0 ? isOf : Prisma.sql`(${isOf} AND ${isBeyond(order, after)})`;
    });
}

/** Returns the operator by which a lead is beyond a position. */
export const beyond = (order: LeadOrder) =>
  order.direction === 'descending' ? Prisma.sql`<` : Prisma.sql`>`;

/** Returns the parameter of a time. */
export function timestamp(date: Date): Prisma.Sql {
  return Prisma.sql`${date.toISOString()}::timestamptz`;
}
