import type { Traced } from '../lead/lead-store.ts';
import { Prisma } from './generated/client.ts';

/** Returns the traceparents by lead id, as JSON; undefined if no lead is traced. */
export function traceparentsOf(leads: readonly (Traced & { readonly id: string })[]): string | undefined {
  // A fast path for every batch: nearly always no lead is traced.
  if (!leads.some(({ traceparent }) => traceparent !== undefined)) return undefined;
  const parents = leads.flatMap(({ id, traceparent }) =>
    traceparent === undefined ? [] : [[id, traceparent]],
  );
  return JSON.stringify(Object.fromEntries(parents));
}

/** Passes the traceparents to the outbox triggers, in a setting of the transaction. */
export const noteTraceparents = (text: Prisma.Sql) =>
  Prisma.sql`CROSS JOIN (SELECT set_config('leads.trace_parents', ${text}, true)) AS trace_parents`;
