import { newId } from '../uuid.ts';
import { keepExtra } from './extra.ts';
import { IntakeLead, type Lead, type LeadDetail, NewLead } from './lead.schema.ts';
import { type LeadFieldName, leadFieldNames, newLeadFieldNames } from './lead-fields.ts';
import type { LeadPayout } from '../payout/payout.schema.ts';
import { initialStatus, type LeadStatus } from './lead-status.ts';
import { parsePhone } from './phone.ts';

type LeadFields = { readonly [Name in LeadFieldName]?: string | undefined };

/** A stored lead: the fields of the request, and the fields that the service sets. */
export interface StoredLead extends LeadFields {
  readonly id: string;
  readonly workspaceId: string;
  readonly campaignId: string;
  readonly userId: string;
  readonly source: 'crm' | 'intake';
  readonly status: LeadStatus;
  readonly name: string;
  readonly phone: string;
  readonly phoneE164?: string | undefined;
  readonly ip?: string | undefined;
  readonly s1?: string | undefined;
  readonly lpName?: string | undefined;
  /** JSON text of an object. */
  readonly extra?: string | undefined;
  /** 1 for a new lead, increased by 1 with each change. */
  readonly version: number;
  /** SHA-256 of the content of a request with an Idempotency-Key. */
  readonly contentHash?: Buffer | undefined;
  /** The first lead with the same phone number, if this lead arrived within the campaign's duplicate window. */
  readonly duplicateOf?: string | undefined;
  /** The owner or manager who works on the lead. */
  readonly assigneeId?: string | undefined;
  /** The time at which the lead is to be called back, in ISO 8601. */
  readonly callbackAt?: string | undefined;
  /** The time at which the lead becomes Approved unless it is held, in ISO 8601. Absent without a timer. */
  readonly approveAt?: string | undefined;
  /** Why a person holds the lead. */
  readonly holdReason?: string | undefined;
  /** The payout that is fixed while the lead is Approved or Paid. In other statuses, only one that a person has set. */
  readonly payout?: LeadPayout | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A lead with the code of its campaign. */
export type FoundLead = StoredLead & {
  readonly campaignCode: string;
  /** The payout by the present rules of the publisher and the campaign. */
  readonly expectedPayout?: LeadPayout | undefined;
};

/** Returns the length of the texts of a lead that requests set. It allocates nothing, because it is called for every lead. */
export function charactersOf(lead: StoredLead): number {
  let characters = lead.name.length + lead.phone.length;
  characters += (lead.s1?.length ?? 0) + (lead.lpName?.length ?? 0) + (lead.extra?.length ?? 0);
  for (const name of leadFieldNames) characters += lead[name]?.length ?? 0;
  return characters;
}

/** The part of a stored lead that its representation shows (specification, 2.2). */
type ListedLead = Pick<
  StoredLead,
  | 'id'
  | 'name'
  | 'phone'
  | 'createdAt'
  | 'updatedAt'
  | 'campaignId'
  | 'userId'
  | 'ip'
  | 'address'
  | 'region'
  | 'state'
  | 'country'
  | 'status'
>;

/** The fields of a new lead that come from the credentials and the campaign, not from the body. */
export interface LeadPlacement {
  /** Generated if absent. */
  readonly id?: string | undefined;
  readonly workspaceId: string;
  readonly userId: string;
  readonly campaignId: string;
}

const namedByNewLead: ReadonlySet<string> = new Set(Object.keys(NewLead.properties));
const namedByIntakeLead: ReadonlySet<string> = new Set(Object.keys(IntakeLead.properties));

/** Returns the lead to store for a create request. `extraLeftOut` counts fields beyond the bounds of `extra`. */
export function fromNewLead(
  body: NewLead,
  placement: LeadPlacement,
): { lead: StoredLead; extraLeftOut: number } {
  const extra = keepExtra(body, namedByNewLead);
  const lead = newLead(placement, body, 'crm');
  lead.phoneE164 = parsePhone(body.phone, body.country)?.e164;
  for (const name of newLeadFieldNames) lead[name] = body[name];
  lead.extra = extra.json;
  return { lead, extraLeftOut: extra.leftOut };
}

/**
 * Returns the lead to store for an intake request.
 *
 * @param ip the visitor's address, as trusted proxies report it; empty if the client has disconnected.
 */
export function fromIntakeLead(
  body: IntakeLead,
  placement: LeadPlacement,
  ip: string,
): { lead: StoredLead; extraLeftOut: number } {
  const extra = keepExtra(body, namedByIntakeLead);
  const lead = newLead(placement, body, 'intake');
  lead.phoneE164 = parsePhone(body.phone)?.e164;
  lead.s1 = body.s1;
  lead.lpName = body.lp_name;
  // Postgres would reject an empty address, and the other leads of its batch would be inserted again.
  if (ip !== '') lead.ip = ip;
  lead.extra = extra.json;
  return { lead, extraLeftOut: extra.leftOut };
}

/** A mutable lead. Setting fields one by one avoids object spread, which takes ten times as long as everything else. */
type Draft = { -readonly [Field in keyof StoredLead]: StoredLead[Field] };

/** Returns the fields that leads of both services have. */
function newLead(placement: LeadPlacement, body: NewLead | IntakeLead, source: StoredLead['source']): Draft {
  const now = new Date();
  return {
    id: placement.id ?? newId(),
    version: 1,
    workspaceId: placement.workspaceId,
    userId: placement.userId,
    campaignId: placement.campaignId,
    source,
    status: initialStatus,
    name: body.name,
    phone: body.phone,
    address: body.address,
    createdAt: now,
    updatedAt: now,
  };
}

/** Returns the representation of a lead (specification, 2.2), without absent fields. */
export function toLead(lead: ListedLead): Lead {
  const shown: Lead = {
    id: lead.id,
    name: lead.name,
    phone: lead.phone,
    createdAt: lead.createdAt.toISOString(),
    updatedAt: lead.updatedAt.toISOString(),
    campaignId: lead.campaignId,
    userId: lead.userId,
    status: lead.status,
  };
  if (lead.ip !== undefined) shown.ip = lead.ip;
  if (lead.address !== undefined) shown.address = lead.address;
  if (lead.state !== undefined) shown.state = lead.state;
  if (lead.region !== undefined) shown.region = lead.region;
  if (lead.country !== undefined) shown.country = lead.country;
  return shown;
}

/** Returns the payout that a lead shows: the expected one on hold, else the fixed one, and none of a trashed lead. */
function payoutOf({ status, payout, expectedPayout }: FoundLead): LeadPayout | undefined {
  if (status === 'Trashed') return undefined;
  return status === 'OnHold' ? (payout ?? expectedPayout) : payout;
}

/** The stored fields that a detail lacks or has in another form. */
const convertedFields: ReadonlySet<string> = new Set<keyof FoundLead>([
  'workspaceId',
  'contentHash',
  'approveAt',
  'payout',
  'expectedPayout',
  'extra',
  'createdAt',
  'updatedAt',
]);

/** Returns all stored fields of a lead, as the CRM shows them. */
export function toLeadDetail(lead: FoundLead): LeadDetail {
  // Object rest, spread and `fromEntries` take three times as long. The relay builds a detail of each lead.
  const detail: Record<string, unknown> = {};
  const add = (field: keyof LeadDetail, value: unknown) => {
    if (value !== undefined) detail[field] = value;
  };
  for (const [field, value] of Object.entries(lead)) {
    if (!convertedFields.has(field)) add(field as keyof LeadDetail, value);
  }
  if (lead.status === initialStatus && lead.holdReason === undefined) add('approveAt', lead.approveAt);
  add('payout', payoutOf(lead));
  if (lead.extra !== undefined) add('extra', JSON.parse(lead.extra));
  add('createdAt', lead.createdAt.toISOString());
  add('updatedAt', lead.updatedAt.toISOString());
  return detail as unknown as LeadDetail;
}
