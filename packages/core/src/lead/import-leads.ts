import { LRUCache } from 'lru-cache';
import type { Campaign, CampaignStore } from '../campaign/campaign-store.ts';
import type { Principal } from '../credential/principal.ts';
import { CsvReader } from '../csv/csv-reader.ts';
import { LeadsError, type LeadsFault } from '../errors.ts';
import { keepExtra } from './extra.ts';
import { contentHash, idempotentId } from './idempotency.ts';
import { type ImportColumn, readHeader, readRow } from './import-row.ts';
import { insertEach } from './insert-each.ts';
import type { NewLead } from './lead.schema.ts';
import { fromNewLead, type StoredLead } from './lead.ts';
import type { LeadStore, LeadToInsert } from './lead-store.ts';

/** A record that was not stored. */
export interface ImportRejection {
  /** The line of the file that the record starts in, counted from 1. */
  readonly line: number;
  /** The field at fault, where it is one. */
  readonly field?: string;
  /** For people; nothing of what was sent. */
  readonly reason: string;
}

/** What became of the records of a file. */
export interface ImportReport {
  /** Stored by this import, `duplicates` among them. */
  accepted: number;
  /** Of those, the ones trashed as duplicates by their campaign's window. */
  duplicates: number;
  /** Stored already, by an import of the same key. */
  repeated: number;
  /** Not stored. */
  rejected: number;
  /** Values beyond the bounds of `extra`, which were left out. */
  extraLeftOut: number;
  /** The columns that were passed over, by their names in the file. */
  ignoredColumns: string[];
}

export interface ImportOptions {
  /** For the records that name no campaign. */
  readonly campaignCode?: string | undefined;
  /** Makes the file safe to be sent again: each of its lines is stored once. */
  readonly idempotencyKey?: string | undefined;
  /** Why a body is not a NewLead; nothing where it is one. */
  readonly validate: (body: unknown) => readonly LeadsFault[];
  /** Called for each record that is rejected, in the order of the lines. */
  readonly onRejection?: (rejection: ImportRejection) => void;
  /** Called after each batch. */
  readonly onProgress?: (soFar: Readonly<ImportReport>) => void;
  /** Ends the import after the batch under way, with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * So many leads, or so many bytes of them, are stored at once: 500 is where a larger batch was no faster, and with
 * more an import would keep others waiting for longer.
 */
const batch = { leads: 500, bytes: 1024 * 1024 } as const;
/** A piece that is larger is read in several. */
const pieceBytes = 64 * 1024;
/** The campaigns an import keeps in mind; a file of more looks some up again. */
const campaignsKept = 1000;

/** A record that is a lead but for its campaign. */
interface Candidate {
  readonly line: number;
  readonly body: NewLead;
  readonly extra: object;
}

/**
 * Creates the leads of a CSV file, by the rules of a single create (specification, 4.1), in batches and in bounded
 * memory. What a batch has stored stays, whatever becomes of the rest. A record that is refused costs no other.
 *
 * @param file the bytes of the file, in pieces of any size.
 * @throws LeadsError `invalid_input` for a file without the columns it needs; `unavailable` when the database goes
 *   away; the reason of `options.signal`.
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
  const store = createBatchStore(stores, principal, options, report, reject);

  let columns: readonly ImportColumn[] | undefined;
  let waiting: Candidate[] = [];
  let waitingBytes = 0;
  const flush = async () => {
    await store(waiting);
    waiting = [];
    waitingBytes = 0;
    for (const rejection of rejections.toSorted((a, b) => a.line - b.line)) options.onRejection?.(rejection);
    rejections = [];
    options.onProgress?.(report);
    options.signal?.throwIfAborted();
  };

  for await (const entry of entriesOf(file)) {
    if (columns === undefined) {
      const header = readHeader(entry, options.campaignCode !== undefined);
      columns = header.columns;
      report.ignoredColumns = header.ignored;
      continue;
    }
    const row = readRow(columns, entry, options);
    if (row === undefined) continue;
    if ('rejection' in row) {
      reject(row.rejection);
      // However many there are of these, the import can be watched and ended.
      if (rejections.length >= batch.leads) await flush();
      continue;
    }
    waiting.push({ line: entry.line, ...row });
    waitingBytes += row.size;
    if (waiting.length >= batch.leads || waitingBytes >= batch.bytes) await flush();
  }
  if (columns === undefined) {
    throw new LeadsError('invalid_input', { fields: [{ at: 'body', reason: 'The file is empty' }] });
  }
  await flush();
  return report;
}

async function* entriesOf(file: AsyncIterable<Uint8Array>) {
  const reader = new CsvReader();
  for await (const piece of file) {
    for (let at = 0; at < piece.length; at += pieceBytes) {
      yield* reader.read(piece.subarray(at, at + pieceBytes));
    }
  }
  yield* reader.end();
}

/** Makes what stores a batch and counts what became of it. */
function createBatchStore(
  { campaigns, leads }: { campaigns: CampaignStore; leads: LeadStore },
  { workspaceId, userId }: Pick<Principal, 'workspaceId' | 'userId'>,
  { idempotencyKey }: ImportOptions,
  report: ImportReport,
  reject: (rejection: ImportRejection) => void,
) {
  const known = new LRUCache<string, { campaign: Campaign | undefined }>({ max: campaignsKept });
  const findCampaign = async (code: string) => {
    const kept = known.get(code) ?? { campaign: await campaigns.findByCode(workspaceId, code) };
    known.set(code, kept);
    return kept.campaign;
  };

  /** The lead of a candidate, in no campaign yet. */
  const unplaced = ({ line, body, extra }: Candidate) => {
    const kept = keepExtra(extra, new Set());
    const id = idempotencyKey === undefined ? undefined : idempotentId(workspaceId, idempotencyKey, line);
    const { lead } = fromNewLead(body, { id, workspaceId, userId, campaignId: '' });
    const whole: StoredLead = { ...lead, extra: kept.json };
    return { lead: whole, extraLeftOut: kept.leftOut };
  };

  const ofWorkspace = { insert: (some: readonly LeadToInsert[]) => leads.insert(some, workspaceId) };
  const insert = (placed: readonly Placed[]): Promise<void> =>
    insertEach(ofWorkspace, placed, {
      stored: async (items, added) => {
        for (const { duplicateOf } of added.values()) {
          report.accepted += 1;
          if (duplicateOf !== undefined) report.duplicates += 1;
        }
        await countStanding(items.filter(({ lead }) => !added.has(lead.id)));
      },
      refused: ({ line }) => reject({ line, reason: 'The line holds something that cannot be stored' }),
    });

  /** Leads that were not added, since their ids are stored already. */
  const countStanding = async (placed: readonly Pick<Placed, 'line' | 'lead'>[]): Promise<Set<number>> => {
    const answered = new Set<number>();
    if (placed.length === 0) return answered;
    const ids = placed.map(({ lead }) => lead.id);
    const standing = new Map((await leads.find({ workspaceId }, ids)).map((lead) => [lead.id, lead]));
    for (const { line, lead } of placed) {
      const hash = standing.get(lead.id)?.contentHash;
      if (!standing.has(lead.id)) continue;
      answered.add(line);
      if (lead.contentHash !== undefined && hash?.equals(lead.contentHash) === true) report.repeated += 1;
      else reject({ line, reason: 'The Idempotency-Key was sent before with other content in this line' });
    }
    return answered;
  };

  return async (candidates: readonly Candidate[]): Promise<void> => {
    const placed: Placed[] = [];
    const homeless: Placed[] = [];
    for (const candidate of candidates) {
      const { line, body } = candidate;
      const { lead, extraLeftOut } = unplaced(candidate);
      report.extraLeftOut += extraLeftOut;
      const hashed =
        idempotencyKey === undefined ? lead : { ...lead, contentHash: contentHash(lead, body.campaignCode) };
      const campaign = await findCampaign(body.campaignCode);
      if (campaign?.status === 'active') {
        const { id: campaignId, duplicateWindowSeconds } = campaign;
        placed.push({ line, lead: { ...hashed, campaignId, duplicateWindowSeconds } });
      } else {
        homeless.push({ line, lead: hashed });
      }
    }
    // A lead of this import that stands is answered as it was, though its campaign takes no others any more.
    const answered = idempotencyKey === undefined ? new Set<number>() : await countStanding(homeless);
    for (const { line } of homeless) {
      if (answered.has(line)) continue;
      reject({ line, field: 'campaignCode', reason: 'campaignCode must be the code of an active campaign' });
    }
    await insert(placed);
  };
}

interface Placed {
  readonly line: number;
  readonly lead: LeadToInsert;
}
