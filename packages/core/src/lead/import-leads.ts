import type { Campaign, CampaignStore } from '../campaign/campaign-store.ts';
import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { keepExtra } from './extra.ts';
import { contentHash, earlierId, idempotentId, outcomeOfRepeat } from './idempotency.ts';
import { importBatches, type ImportOptions, type Reject } from './import-batches.ts';
import { type ImportColumn, type ImportRules, readHeader, readRow } from './import-row.ts';
import { insertEach } from './insert-each.ts';
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

/** A valid record: a lead without its campaign. */
type Candidate = Exclude<ReturnType<typeof readRow>, { readonly rejection: unknown } | undefined>;

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
  stores: { campaigns: Pick<CampaignStore, 'findByCode'>; leads: LeadStore },
  principal: Pick<Principal, 'workspaceId' | 'userId'>,
  file: AsyncIterable<Uint8Array>,
  options: ImportRules & ImportOptions<ImportReport>,
): Promise<ImportReport> {
  const report: ImportReport = {
    accepted: 0,
    duplicates: 0,
    repeated: 0,
    rejected: 0,
    extraLeftOut: 0,
    ignoredColumns: [],
  };
  const storeBatch = createBatchStore(stores, principal, options.idempotencyKey, report);
  return importBatches(
    file,
    report,
    {
      readHeader: (entry) => readHeader(entry, options),
      readLine: (columns: readonly ImportColumn[], entry) => readRow(columns, entry, options),
      apply: storeBatch,
    },
    options,
  );
}

/** Returns a function that stores a batch and adds its result to the report. */
function createBatchStore(
  { campaigns, leads }: { campaigns: Pick<CampaignStore, 'findByCode'>; leads: LeadStore },
  { workspaceId, userId }: Pick<Principal, 'workspaceId' | 'userId'>,
  idempotencyKey: string | undefined,
  report: ImportReport,
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

  const insert = (placed: readonly LeadOfLine[], reject: Reject): Promise<void> =>
    insertEach(leads, placed, {
      stored(_item, outcome) {
        if (outcome.result === 'added') {
          report.accepted += 1;
          if (outcome.lead.duplicateOf !== undefined) report.duplicates += 1;
        } else report.repeated += 1;
      },
      rejected({ line }, error) {
        if (error instanceof LeadsError) reject(keyReusedInLine(line));
        else reject({ line, reason: 'The line contains a value that cannot be stored' });
      },
    });

  /** Counts or rejects the leads that are stored already, and returns the other leads. */
  const countRepeated = async (
    sent: readonly LeadOfLine[],
    reject: Reject,
  ): Promise<readonly LeadOfLine[]> => {
    if (sent.length === 0 || idempotencyKey === undefined) return sent;
    const ids = sent.flatMap(({ lead: { id, earlierId: earlier = id } }) => [id, earlier]);
    const found = new Map((await leads.find({ workspaceId }, ids)).map((lead) => [lead.id, lead]));
    return sent.filter(({ line, lead }) => {
      const outcome = outcomeOfRepeat(found, lead);
      if (outcome?.result === 'repeated') report.repeated += 1;
      else if (outcome?.result === 'key_reused') reject(keyReusedInLine(line));
      return outcome === undefined;
    });
  };

  return async (candidates: readonly Candidate[], reject: Reject): Promise<void> => {
    const placed: LeadOfLine[] = [];
    // Campaigns are cached for one batch only, because an upload may take hours and campaigns change meanwhile.
    const campaignsByCode = new Map<string, Campaign | undefined>();
    // Lines that are stored already are removed first. They count as repeated even if their campaign is no longer active.
    for (const fresh of await countRepeated(candidates.map(toLeadOfLine), reject)) {
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
    await insert(placed, reject);
  };
}

/** Returns the rejection of a line whose lead is stored with different content, by an import under the same key. */
const keyReusedInLine = (line: number) => ({
  line,
  reason:
    'An earlier import of this file (same Idempotency-Key) stored this line with other values or in another campaign',
});
