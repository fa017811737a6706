import type { Campaign, CampaignStore } from '../campaign/campaign-store.ts';
import type { Principal } from '../credential/principal.ts';
import { readCsv } from '../csv/read-csv.ts';
import { LeadsError } from '../errors.ts';
import { keepExtra } from './extra.ts';
import { contentHash, earlierId, idempotentId, outcomeOfRepeat } from './idempotency.ts';
import {
  batchLimits,
  type ImportColumn,
  type ImportRejection,
  type ImportRules,
  readHeader,
  readRow,
} from './import-row.ts';
import { insertEach } from './insert-each.ts';
import type { NewLead } from './lead.schema.ts';
import { fromNewLead, type StoredLead } from './lead.ts';
import type { LeadStore, LeadToInsert } from './lead-store.ts';

/** The result of an import. */
export interface ImportReport {
  /** Leads that this import stored, `duplicates` included. */
  accepted: number;
  /** Accepted leads that were trashed as duplicates within their campaign's window. */
  duplicates: number;
  /** Records whose leads were stored already, by an import under the same key. */
  repeated: number;
  /** Records that were not stored. */
  rejected: number;
  /** Values that were dropped because they exceed the bounds of `extra`. */
  extraLeftOut: number;
  /** The names of the skipped columns, as in the file. */
  ignoredColumns: string[];
}

interface ImportOptions extends ImportRules {
  /** Makes repeating the import safe: each line of the file is stored once. */
  readonly idempotencyKey?: string | undefined;
  /** Called for each rejected record, in the order of the lines. */
  readonly onRejection?: (rejection: ImportRejection) => void;
  /** Called after each batch. */
  readonly onProgress?: (soFar: Readonly<ImportReport>) => void;
  /** Stops the import before the next batch and throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A valid record: a lead without its campaign. */
interface Candidate {
  readonly line: number;
  readonly body: NewLead;
  readonly extra: object;
}

interface LeadOfLine {
  readonly line: number;
  readonly campaignCode: string;
  readonly lead: LeadToInsert;
}

/**
 * Creates the leads of a CSV file, by the rules of a single create request (specification, 4.1). It stores leads in
 * batches and in bounded memory. A stored batch stays stored if the import fails later. A rejected record does not
 * affect other records.
 *
 * @param file the bytes of the file, in pieces of any size.
 * @throws LeadsError `invalid_input` if the header lacks a required column or a column of `options.ignore`;
 *   `unavailable` if the database becomes unavailable; the reason of `options.signal`.
 */
export async function importLeads(
  stores: { campaigns: CampaignStore; leads: LeadStore },
  principal: Pick<Principal, 'workspaceId' | 'userId'>,
  file: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportReport> {
  const report: ImportReport = {
    accepted: 0,
    duplicates: 0,
    repeated: 0,
    rejected: 0,
    extraLeftOut: 0,
    ignoredColumns: [],
  };
  let rejections: ImportRejection[] = [];
  const reject = (rejection: ImportRejection) => {
    report.rejected += 1;
    rejections.push(rejection);
  };
  const storeBatch = createBatchStore(stores, principal, options, report, reject);

  let columns: readonly ImportColumn[] | undefined;
  let candidates: Candidate[] = [];
  let size = 0;
  const flush = async () => {
    options.signal?.throwIfAborted();
    await storeBatch(candidates);
    candidates = [];
    size = 0;
    for (const rejection of rejections.toSorted((a, b) => a.line - b.line)) options.onRejection?.(rejection);
    rejections = [];
    options.onProgress?.(report);
    options.signal?.throwIfAborted();
  };

  for await (const entry of readCsv(file)) {
    if (columns === undefined) {
      const header = readHeader(entry, options);
      columns = header.columns;
      report.ignoredColumns = header.ignored;
      continue;
    }
    const row = readRow(columns, entry, options);
    if (row === undefined) continue;
    if ('rejection' in row) {
      reject(row.rejection);
      // An import with only rejected records must also report its progress and observe its signal.
      if (rejections.length >= batchLimits.lines) await flush();
      continue;
    }
    candidates.push({ line: entry.line, ...row });
    size += row.size;
    if (candidates.length >= batchLimits.lines || size >= batchLimits.characters) await flush();
  }
  if (columns === undefined) {
    throw new LeadsError('invalid_input', { fields: [{ at: 'body', reason: 'The file is empty' }] });
  }
  await flush();
  return report;
}

/** Returns a function that stores a batch and adds its result to the report. */
function createBatchStore(
  { campaigns, leads }: { campaigns: CampaignStore; leads: LeadStore },
  { workspaceId, userId }: Pick<Principal, 'workspaceId' | 'userId'>,
  { idempotencyKey }: ImportOptions,
  report: ImportReport,
  reject: (rejection: ImportRejection) => void,
) {
  const owner = { workspaceId, userId, isBrowser: false };

  /** Returns the lead of a candidate, without its campaign. */
  const toLeadOfLine = ({ line, body, extra }: Candidate): LeadOfLine => {
    const kept = keepExtra(extra, new Set());
    report.extraLeftOut += kept.leftOut;
    const id = idempotencyKey === undefined ? undefined : idempotentId(owner, idempotencyKey, line);
    const { lead } = fromNewLead(body, { id, workspaceId, userId, campaignId: '' });
    const whole: StoredLead = { ...lead, extra: kept.json };
    const { campaignCode } = body;
    if (idempotencyKey === undefined) return { line, campaignCode, lead: whole };
    const hash = contentHash(whole, campaignCode);
    return {
      line,
      campaignCode,
      lead: { ...whole, contentHash: hash, earlierId: earlierId(owner, idempotencyKey, line) },
    };
  };
  const rejectReused = (line: number) =>
    reject({ line, reason: 'The Idempotency-Key was already used with different content in this line' });

  const insert = (placed: readonly LeadOfLine[]): Promise<void> =>
    insertEach(leads, placed, {
      stored(_item, outcome) {
        if (outcome.result === 'added') {
          report.accepted += 1;
          if (outcome.lead.duplicateOf !== undefined) report.duplicates += 1;
        } else report.repeated += 1;
      },
      rejected({ line }, error) {
        if (error instanceof LeadsError) rejectReused(line);
        else reject({ line, reason: 'The line contains a value that cannot be stored' });
      },
    });

  /** Counts or rejects the leads that are stored already, and returns the other leads. */
  const countRepeated = async (sent: readonly LeadOfLine[]): Promise<readonly LeadOfLine[]> => {
    if (sent.length === 0 || idempotencyKey === undefined) return sent;
    const ids = sent.flatMap(({ lead: { id, earlierId: earlier = id } }) => [id, earlier]);
    const found = new Map((await leads.find({ workspaceId }, ids)).map((lead) => [lead.id, lead]));
    return sent.filter(({ line, lead }) => {
      const outcome = outcomeOfRepeat(found, lead);
      if (outcome?.result === 'repeated') report.repeated += 1;
      else if (outcome?.result === 'key_reused') rejectReused(line);
      return outcome === undefined;
    });
  };

  return async (candidates: readonly Candidate[]): Promise<void> => {
    const placed: LeadOfLine[] = [];
    // Campaigns are cached for one batch only, because an upload may take hours and campaigns change meanwhile.
    const campaignsByCode = new Map<string, Campaign | undefined>();
    // Lines that are stored already are removed first. They count as repeated even if their campaign is no longer active.
    // The store would take such a line for the original of a later line with the same phone number.
    for (const fresh of await countRepeated(candidates.map(toLeadOfLine))) {
      const { line, campaignCode, lead } = fresh;
      if (!campaignsByCode.has(campaignCode)) {
        campaignsByCode.set(campaignCode, await campaigns.findByCode(workspaceId, campaignCode));
      }
      const campaign = campaignsByCode.get(campaignCode);
      if (campaign?.status !== 'active') {
        const reason = 'campaignCode must be the code of an active campaign';
        reject({ line, field: 'campaignCode', reason });
        continue;
      }
      const { id: campaignId, duplicateWindowSeconds, approveAfterSeconds } = campaign;
      placed.push({
        ...fresh,
        lead: {
          ...lead,
          campaignId,
          duplicateWindowSeconds,
          approveAfterSeconds,
          actingWorkspaceId: workspaceId,
          isImported: true,
        },
      });
    }
    await insert(placed);
  };
}
