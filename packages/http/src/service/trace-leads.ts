import type { LeadSink, LeadStore } from '@leads/core/lead';
import type { Span, Tracing } from './span.ts';

/** Starts a span around each insert of a traced lead. Its duration is the time that the request waited for Postgres. */
export function traceInserts(leads: LeadStore, tracing: Tracing | undefined): LeadStore {
  if (tracing === undefined) return leads;
  return {
    ...leads,
    async insert(batch) {
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
      return endSpansAfter(spans, () => leads.insert(batch));
    },
  };
}

/** Passes the request's traceparent with its lead to the lead store, which copies it to the event. */
export function sinkWithTraceparent(sink: LeadSink, { span }: { readonly span: Span | undefined }): LeadSink {
  const traceparent = span?.traceparent;
  return traceparent === undefined ? sink : { take: (lead) => sink.take({ ...lead, traceparent }) };
}

/** Passes the request's traceparent to the lead store, which copies it to the events. */
export function withTraceparent(leads: LeadStore, { span }: { readonly span: Span | undefined }): LeadStore {
  const traceparent = span?.traceparent;
  if (traceparent === undefined) return leads;
  return {
    ...leads,
    insert: (batch) => leads.insert(batch.map((lead) => ({ ...lead, traceparent }))),
    change: (workspaceId, changes) =>
      leads.change(
        workspaceId,
        changes.map((change) => ({ ...change, traceparent })),
      ),
    changeStatus: (workspaceId, change) => leads.changeStatus(workspaceId, { ...change, traceparent }),
  };
}

/** Runs `work` and ends the spans with its outcome. */
export async function endSpansAfter<Result>(
  spans: readonly Span[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await work();
    for (const span of spans) span.end();
    return result;
  } catch (error) {
    for (const span of spans) span.end({ error: error instanceof Error ? error.name : 'Error' });
    throw error;
  }
}
