import { type Principal, requirePermission } from '../credential/principal.ts';
import { fromCell } from '../csv/csv-cell.ts';
import type { CsvFault, CsvRecord } from '../csv/csv-reader.ts';
import { type FieldError, LeadsError, StoreError } from '../errors.ts';
import { changeEach, concurrentChange } from './change-each.ts';
import { idempotentId } from './idempotency.ts';
import { importBatches, type ImportOptions, type Reject } from './import-batches.ts';
import { describeFieldErrors, type ImportRejection, readCells } from './import-row.ts';
import { foldName } from './lead-fields.ts';
import { visibleTo } from './lead-scope.ts';
import { checkTransition, type LeadStatus } from './lead-status.ts';
import type { LeadStore } from './lead-store.ts';
import { phoneSearch } from './search.ts';
import type { StatusImportLine } from './status-import.schema.ts';
import { readStatusNames, type StatusAliasStore, type StatusNames } from './status-aliases.ts';

/** The result of an import of statuses. Each record is counted once. */
export interface StatusImportReport {
  /** Leads whose status this import changed. */
  changed: number;
  /** Records whose lead had the status already. */
  unchanged: number;
  /** Records that an import under the same key has applied. */
  repeated: number;
  /** Records that changed nothing because of an error. */
  rejected: number;
  /** The names of the skipped columns, as in the file. */
  ignoredColumns: string[];
}

interface StatusImportOptions extends ImportOptions<StatusImportReport> {
  /** Returns the errors of a line, or an empty list for a valid {@link StatusImportLine}. */
  readonly validate: (line: unknown) => readonly FieldError[];
}

const keyReused = 'The Idempotency-Key was already used in this line for another lead or status';

/** The number of concurrent searches for leads without an id. More would delay other requests. */
const concurrentSearches = 4;
const columnNames = ['id', 's1', 'phone', 'campaignCode', 'status', 'reason'] as const;
const fieldOfFolded = new Map<string, string>(columnNames.map((name) => [foldName(name), name]));

/** A valid line with its status. */
interface Candidate {
  readonly line: number;
  /** The size of the record in characters. */
  readonly size: number;
  readonly sent: StatusImportLine;
  readonly status: LeadStatus;
  readonly reason: string | undefined;
}

/** A line whose lead is known. */
interface Target extends Candidate {
  readonly leadId: string;
  /** Derived from the key and the line; absent without a key. */
  readonly requestId: string | undefined;
}

/**
 * Changes the statuses of existing leads by a CSV file, by the rules of a single change. A line names its lead by `id`, or
 * by `s1` or `phone`, also with a `campaignCode`. It works in batches and in bounded memory. A change that is stored stays
 * stored if the import fails later. A rejected line does not affect other lines.
 *
 * @param file the bytes of the file, in pieces of any size.
 * @throws LeadsError `forbidden` for a publisher; `invalid_input` for an invalid header; `unavailable` if the database
 *   becomes unavailable; the reason of `options.signal`.
 */
export async function importStatuses(
  stores: { leads: LeadStore; statusAliases: StatusAliasStore },
  principal: Principal,
  file: AsyncIterable<Uint8Array>,
  options: StatusImportOptions,
): Promise<StatusImportReport> {
  requirePermission(principal, 'changeStatuses');
  const names = await readStatusNames(stores.statusAliases, principal);
  const report: StatusImportReport = {
    changed: 0,
    unchanged: 0,
    repeated: 0,
    rejected: 0,
    ignoredColumns: [],
  };
  return importBatches(
    file,
    report,
    {
      readHeader: readStatusHeader,
      readLine: (columns, entry) => readLine(columns, entry, names, options.validate),
      apply: createBatchChange(stores.leads, principal, options.idempotencyKey, report),
    },
    options,
  );
}

const invalidFile = (...reasons: string[]) =>
  new LeadsError('invalid_input', { fields: reasons.map((reason) => ({ at: 'body', reason })) });

/** Returns the field of each column, and the names of the skipped columns. */
function readStatusHeader(entry: CsvRecord | CsvFault): {
  columns: (string | undefined)[];
  ignored: string[];
} {
  if ('fault' in entry) throw invalidFile(`The header ${entry.fault}`);
  const given = entry.cells.map((cell) => fromCell(cell).trim());
  const columns = given.map((name) => fieldOfFolded.get(foldName(name)));
  const faults = columnNames
    .filter((name) => columns.filter((column) => column === name).length > 1)
    .map((name) => `The header has ${name} twice`);
  if (!columns.includes('status')) faults.push('The header has no column status');
  if (!['id', 's1', 'phone'].some((name) => columns.includes(name))) {
    faults.push('The header has none of the columns id, s1 and phone');
  }
  if (faults.length > 0) throw invalidFile(...faults);
  return { columns, ignored: given.filter((name, at) => name !== '' && columns[at] === undefined) };
}

/** Returns a line with its status, a rejection, or nothing for a record without values. */
function readLine(
  columns: readonly (string | undefined)[],
  entry: CsvRecord | CsvFault,
  names: StatusNames,
  validate: StatusImportOptions['validate'],
): Candidate | { readonly rejection: ImportRejection } | undefined {
  const { line } = entry;
  const read = readCells(columns.length, entry);
  if (read === undefined || 'rejection' in read) return read;
  const fields = read.cells.flatMap((cell, at): [string, string][] => {
    const text = fromCell(cell);
    const trimmed = text.trim();
    const name = columns[at];
    return name === undefined || trimmed === '' ? [] : [[name, name === 's1' ? text : trimmed]];
  });
  const sent: unknown = Object.fromEntries(fields);
  const faults = validate(sent);
  if (faults.length > 0) return { rejection: { line, ...describeFieldErrors(faults) } };
  const valid = sent as StatusImportLine;
  if (valid.id === undefined && valid.s1 === undefined && valid.phone === undefined) {
    return { rejection: { line, reason: 'The line has no id, no s1 and no phone' } };
  }
  const resolved = names.resolve(valid.status);
  if (resolved === undefined) {
    return { rejection: { line, field: 'status', reason: `status ${names.unknownReason}` } };
  }
  const { size } = read;
  return { line, size, sent: valid, status: resolved.status, reason: valid.reason ?? resolved.reason };
}

/** Returns the field and the reason of a rejected line. */
function reasonOf({ code, message }: LeadsError): Pick<ImportRejection, 'field' | 'reason'> {
  if (code === 'not_found') return { field: 'id', reason: 'No lead has this id' };
  return { field: code === 'reason_required' ? 'reason' : 'status', reason: message };
}

/** Returns a function that changes the leads of a batch and adds the result to the report. */
function createBatchChange(
  leads: LeadStore,
  principal: Principal,
  idempotencyKey: string | undefined,
  report: StatusImportReport,
) {
  const { workspaceId, userId, role } = principal;
  const scope = visibleTo(principal);
  const requestIdOf = (line: number) =>
    idempotencyKey === undefined
      ? undefined
      : idempotentId({ workspaceId, userId, isBrowser: false }, `status import ${idempotencyKey}`, line);

  /** Returns the id of the lead of a line. A line without an id must match exactly one lead; otherwise returns the reason. */
  const findId = async ({ id, phone, s1, campaignCode }: StatusImportLine) => {
    if (id !== undefined) return { id };
    const ofPhone = phone === undefined ? undefined : phoneSearch(phone);
    if (phone !== undefined && ofPhone === undefined) return { reason: 'phone must contain a digit' };
    const order = { by: 'createdAt', direction: 'descending' } as const;
    const search = (ofS1: string | undefined) =>
      leads.scan({ scope, filter: { phone: ofPhone, s1: ofS1, campaignCode }, order }, { limit: 2 });
    let found = await search(s1);
    // A sub-id is stored with its spaces, and a cell can have more of them.
    if (found.length === 0 && s1 !== undefined && s1 !== s1.trim()) found = await search(s1.trim());
    const [first, second] = found;
    if (first === undefined) return { reason: 'No lead has these values' };
    if (second !== undefined) {
      return { reason: 'Several leads have these values: add the id, or more of s1, phone and campaignCode' };
    }
    // The id is the first of the texts.
    return { id: first[0] ?? '' };
  };

  /** Returns the leads of lines, or the reasons for the lines without one. */
  const findIds = async (candidates: readonly Candidate[]) => {
    const found: { readonly id?: string; readonly reason?: string }[] = [];
    for (let at = 0; at < candidates.length; at += concurrentSearches) {
      const some = candidates.slice(at, at + concurrentSearches);
      found.push(...(await Promise.all(some.map(({ sent }) => findId(sent)))));
    }
    return found;
  };

  /** Returns the lines to apply. Counts those that an import under the same key has applied, and rejects the others. */
  const toTargets = async (candidates: readonly Candidate[], reject: Reject): Promise<readonly Target[]> => {
    const found = await findIds(candidates);
    const requestIds = candidates.map(({ line }) => requestIdOf(line));
    const applied = await leads.findStatusRequests(
      workspaceId,
      requestIds.flatMap((id) => id ?? []),
    );
    return candidates.flatMap((candidate, at) => {
      const { line, status } = candidate;
      const { id, reason = '' } = found[at] ?? {};
      const requestId = requestIds[at];
      const earlier = applied.get(requestId ?? '');
      if (earlier !== undefined) {
        // The lead can have other values now, and other leads can have the same: then the line names no lead or several.
        const isSame = earlier.status === status && (id ?? earlier.leadId).toLowerCase() === earlier.leadId;
        if (isSame) report.repeated += 1;
        else reject({ line, reason: keyReused });
        return [];
      }
      if (id !== undefined) return { ...candidate, leadId: id, requestId };
      reject({ line, reason });
      return [];
    });
  };

  /** Changes the leads of lines, by lead id, and adds the results to the report. */
  const change = async (turn: ReadonlyMap<string, Target>, reject: Reject): Promise<void> => {
    const lineOf = (id: string) => turn.get(id) as Target;
    const unchanged = new Set<string>();
    try {
      const results = await changeEach(leads, principal, [...turn.keys()], (lead) => {
        const { status, reason, requestId } = lineOf(lead.id);
        if (lead.status === status) {
          unchanged.add(lead.id);
          return undefined;
        }
        checkTransition(lead.status, status, { role, reason });
        return { values: { status }, status: { from: lead.status, to: status }, reason, requestId };
      });
      for (const result of results) {
        const { line } = lineOf(result.id);
        if ('error' in result) reject({ line, ...reasonOf(result.error) });
        else if (unchanged.has(result.id)) report.unchanged += 1;
        else report.changed += 1;
      }
    } catch (error) {
      if (!(error instanceof StoreError && error.isRowRejected)) throw error;
      if (turn.size > 1) for (const each of turn) await change(new Map([each]), reject);
      else for (const { line } of turn.values()) reject({ line, field: 'status', reason: concurrentChange });
    }
  };

  return async (candidates: readonly Candidate[], reject: Reject): Promise<void> => {
    let waiting = await toTargets(candidates, reject);
    // Lines of the same lead are applied one after the other.
    while (waiting.length > 0) {
      const turn = new Map<string, Target>();
      for (const target of waiting) {
        const key = target.leadId.toLowerCase();
        if (!turn.has(key)) turn.set(key, target);
      }
      await change(turn, reject);
      const done = new Set(turn.values());
      waiting = waiting.filter((target) => !done.has(target));
    }
  };
}
