import type { LeadToInsert } from './lead-store.ts';

/** A lead as JSON: times in ISO 8601, the content hash in hexadecimal digits. */
export type LeadJson = Omit<LeadToInsert, 'createdAt' | 'updatedAt' | 'contentHash'> & {
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly contentHash?: string | undefined;
};

export function toLeadJson(lead: LeadToInsert): LeadJson {
  return {
    ...lead,
    createdAt: lead.createdAt.toISOString(),
    updatedAt: lead.updatedAt.toISOString(),
    contentHash: lead.contentHash?.toString('hex'),
  };
}

export function fromLeadJson(json: LeadJson): LeadToInsert {
  const createdAt = new Date(json.createdAt);
  return {
    ...json,
    createdAt,
    // Equal times share one Date, as in a new lead, so that the store writes the time once.
    updatedAt: json.updatedAt === json.createdAt ? createdAt : new Date(json.updatedAt),
    contentHash: json.contentHash === undefined ? undefined : Buffer.from(json.contentHash, 'hex'),
  };
}
