import { toRecord } from '../csv/csv-cell.ts';
import { detailFields, internalFields } from './lead.schema.ts';
import { seesInternals, type Viewer } from './lead-scope.ts';
import type { LeadPosition, LeadStore, LeadTexts } from './lead-store.ts';
import { type LeadChoice, positionOf, selectLeads } from './list-leads.ts';
import type { SortField } from './sort-fields.ts';

/** The export formats: CSV (RFC 4180) and newline-delimited JSON. */
export const exportFormats = ['csv', 'ndjson'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** A piece of an export, and its number of leads. */
interface ExportPiece {
  readonly text: string;
  readonly leads: number;
}

/** The fields of the ids that some orders compare. */
const idFields: Readonly<Partial<Record<SortField, string>>> = {
  campaign: 'campaignId',
  user: 'userId',
  assignee: 'assigneeId',
};

/** The number of leads in the first read. */
const firstLeads = 32;
/** The maximum number of leads in one read. Other requests wait while a read is written. */
const maxLeads = 128;
/** The target length of a batch in characters, because a lead can have 64 KiB and more. */
const batchLength = 64 * 1024;

/**
 * Returns every lead that a principal can see and that matches a query, in the order of the query, with all fields that
 * the principal can see.
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
  query: LeadChoice,
  format: ExportFormat,
  signal?: AbortSignal,
): AsyncGenerator<ExportPiece, void, undefined> {
  const selection = selectLeads(viewer, query);
  const { begin, write } = writers[format];
  const fieldCount = detailFields.length - (seesInternals(viewer) ? 0 : internalFields.length);
  const [idAt, createdAt, updatedAt, valueAt] = (
    ['id', 'createdAt', 'updatedAt', idFields[selection.order.by] ?? selection.order.by] as const
  ).map((field) => detailFields.findIndex((name) => name === field)) as [number, number, number, number];

  async function* pieces(): AsyncGenerator<ExportPiece, void, undefined> {
    let limit = firstLeads;
    let after: LeadPosition | undefined;
    let text = begin(fieldCount);
    for (;;) {
      const found = await leads.scan(selection, { limit, after });
      signal?.throwIfAborted();
      for (const lead of found) text += write(lead, fieldCount);
      if (text !== '') yield { text, leads: found.length };
      const last = found.at(-1);
      if (last === undefined || found.length < limit) return;
      after = positionOf(
        {
          id: last[idAt] as string,
          createdAt: last[createdAt] as string,
          updatedAt: last[updatedAt] as string,
          value: last[valueAt] ?? undefined,
        },
        selection.order,
      );
      limit = Math.ceil(Math.min(maxLeads, (batchLength * limit) / text.length));
      text = '';
    }
  }
  return pieces();
}

/** The columns of a payout in CSV, so that spreadsheets can add up amounts. The order is that of its text. */
const payoutColumns = ['payoutAmount', 'payoutCurrency', 'payoutRule'] as const;
const payoutAt = detailFields.indexOf('payout');

/** Returns the values of a payout, which is a text such as `12.5 EUR campaign`. */
function payoutValues(text: string | null | undefined): string[] {
  return text === null || text === undefined ? payoutColumns.map(() => '') : text.split(' ');
}

/** Returns the cells of a record with the cells of the payout in place of the payout. */
function withPayoutCells(cells: readonly string[], payoutCells: readonly string[]): string[] {
  return cells.toSpliced(payoutAt, 1, ...payoutCells);
}

/** Writes the first `count` fields of a lead. */
const writers: Record<
  ExportFormat,
  { begin: (count: number) => string; write: (lead: LeadTexts, count: number) => string }
> = {
  csv: {
    begin: (count) => toRecord(withPayoutCells(detailFields.slice(0, count), payoutColumns)),
    write: (lead, count) =>
      toRecord(
        withPayoutCells(
          lead.slice(0, count).map((text) => text ?? ''),
          payoutValues(lead[payoutAt]),
        ),
      ),
  },
  ndjson: { begin: () => '', write: toJsonLine },
};

/** Removes the spaces that Postgres writes. */
const compact = (json: string): string => JSON.stringify(JSON.parse(json));

function payoutToJson(text: string): string {
  const [amount, currency, rule] = payoutValues(text);
  return JSON.stringify({ amount, currency, rule });
}

/** The names of the fields as JSON, and how their texts become JSON. The first field, the id, is never null. */
const jsonFields = detailFields.map((name, at) => ({
  before: `${at === 0 ? '{' : ','}"${name}":`,
  toJson:
    { version: (text: string) => text, extra: compact, payout: payoutToJson }[name as string] ?? toJsonText,
}));

function toJsonLine(lead: LeadTexts, count: number): string {
  let line = '';
  for (let at = 0; at < count; at++) {
    const field = jsonFields[at];
    const text = lead[at] ?? null;
    if (text !== null && field !== undefined) line += field.before + field.toJson(text);
  }
  return `${line}}\n`;
}

/** The characters that JSON escapes (RFC 8259, 7). Postgres returns no lone surrogates. */
const escaped = /["\\]|[^ -\uffff]/;

/** Returns a text as JSON. Most texts need no escapes, and testing for them is faster. */
function toJsonText(text: string): string {
  return escaped.test(text) ? JSON.stringify(text) : `"${text}"`;
}
