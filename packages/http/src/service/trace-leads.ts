import type { LeadStore } from '@leads/core/lead';
import type { Span, Tracing } from './tracing.ts';

/** Inserts with a span for each lead that is of a trace: how long its request waited for Postgres. */
export function traceInserts(leads: LeadStore, tracing: Tracing | undefined): LeadStore {
  if (tracing === undefined) return leads;
  return {
    ...leads,
    async insert(batch, workspaceId) {
      const spans = batch.flatMap(({ traceparent: parent }) =>
        parent === undefined
          ? []
          : tracing.start('INSERT lead', {
              kind: 'client',
              parent,
              attributes: {
                'db.system.name': 'postgresql',
                'db.operation.name': 'INSERT',
                'db.collection.name': 'lead',
                ...(batch.length > 1 && { 'db.operation.batch.size': batch.length }),
              },
            }),
      );
      return ended(spans, () => leads.insert(batch, workspaceId));
    },
  };
}

/** What a request writes carries on its trace, into the events that it becomes. */
export function ofRequest(leads: LeadStore, { span }: { readonly span: Span | undefined }): LeadStore {
  const traceparent = span?.traceparent;
  if (traceparent === undefined) return leads;
  return {
    ...leads,
    insert: (batch, workspaceId) =>
      leads.insert(
        batch.map((lead) => ({ ...lead, traceparent })),
        workspaceId,
      ),
    change: (workspaceId, changes) =>
      leads.change(
        workspaceId,
        changes.map((change) => ({ ...change, traceparent })),
      ),
  };
}

/** Ends spans with what becomes of some work. */
export async function ended<Result>(spans: readonly Span[], work: () => Promise<Result>): Promise<Result> {
  try {
    const result = await work();
    for (const span of spans) span.end();
    return result;
  } catch (error) {
    for (const span of spans) span.end({ error: error instanceof Error ? error.name : 'Error' });
    throw error;
  }
}
