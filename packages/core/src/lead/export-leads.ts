import { toRecord } from '../csv/csv-cell.ts';
import { LeadDetail, type LeadFilterQuery } from './lead.schema.ts';
import { type FoundLead, toLeadDetail } from './lead.ts';
import type { Viewer } from './lead-scope.ts';
import type { LeadPosition, LeadStore } from './lead-store.ts';
import { positionOf, selectLeads } from './list-leads.ts';

/** The export formats: CSV (RFC 4180) and newline-delimited JSON. */
export const exportFormats = ['csv', 'ndjson'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** A piece of an export, and its number of leads. */
interface ExportPiece {
  readonly text: string;
  readonly leads: number;
}

/** The number of leads in one read. 250 leads are a quarter faster but delay other requests for 12 ms, not 2 ms. */
const maxLeads = 32;
/** The target length of a batch in characters, because a lead can have 64 KiB and more. */
const batchLength = 256 * 1024;

/**
 * Returns every lead that a principal can see and that matches a query, in the order of the query, with all fields.
 * Leads are read as the caller consumes the pieces, in bounded memory. A lead that does not change meanwhile is in the
 * export exactly once.
 *
 * @returns pieces of the file. The first piece waits for the first leads, so that an early failure precedes all output.
 * @throws LeadsError `invalid_input` immediately, for an invalid query; `unavailable` and the reason of `signal` while
 *   the pieces are read.
 */
export function exportLeads(
  leads: LeadStore,
  viewer: Viewer,
  query: LeadFilterQuery,
  format: ExportFormat,
  signal?: AbortSignal,
): AsyncGenerator<ExportPiece, void, undefined> {
  const selection = selectLeads(viewer, query);
  const { begin, write } = writers[format];

  async function* pieces(): AsyncGenerator<ExportPiece, void, undefined> {
    let limit = maxLeads;
    let after: LeadPosition | undefined;
    let text = begin;
    for (;;) {
      const found = await leads.scan(selection, { limit, after });
      signal?.throwIfAborted();
      for (const lead of found) text += write(lead);
      if (text !== '') yield { text, leads: found.length };
      const last = found.at(-1);
      if (last === undefined || found.length < limit) return;
      after = positionOf(last, selection.order);
      limit = Math.ceil(Math.min(maxLeads, (batchLength * limit) / text.length));
      text = '';
    }
  }
  return pieces();
}

/** The columns of a CSV file. */
const columns = Object.keys(LeadDetail.properties) as readonly (keyof LeadDetail)[];

const writers: Record<ExportFormat, { begin: string; write: (lead: FoundLead) => string }> = {
  csv: { begin: toRecord(columns), write: toCsv },
  ndjson: { begin: '', write: (lead) => `${JSON.stringify(toLeadDetail(lead))}\n` },
};

function toCsv(lead: FoundLead): string {
  return toRecord(
    columns.map((column) => {
      const value = lead[column];
      if (value === undefined) return '';
      return value instanceof Date ? value.toISOString() : String(value);
    }),
  );
}
