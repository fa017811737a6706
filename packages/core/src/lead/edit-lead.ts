import { isDeepStrictEqual } from 'node:util';
import { type Principal, requireManager } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { keepExtra } from './extra.ts';
import { findLead } from './get-lead.ts';
import { LeadDetail, LeadPatch } from './lead.schema.ts';
import { type FoundLead, toLeadDetail } from './lead.ts';
import { checkTransition } from './lead-status.ts';
import type { LeadChange, LeadStore } from './lead-store.ts';
import { parsePhone } from './phone.ts';

/** What a lead holds beside what an edit may change. Named in an edit, it is a mistake and no field of `extra`. */
const fixed = new Set(Object.keys(LeadDetail.properties).filter((field) => !(field in LeadPatch.properties)));

/** How often an edit is tried again that another one has overtaken. */
const attempts = 100;

/**
 * Changes fields and, for owners and managers, the status of a lead.
 *
 * @param ifMatch the versions in one of which the lead must be, so that no change of another is lost.
 * @returns the lead as it is now; where nothing was to change, in the version it was.
 * @throws LeadsError `not_found`; `precondition_failed`; `conflict` for a transition that is not allowed and for a
 *   status that was changed meanwhile; `forbidden` for a status by a publisher; `reason_required`; `invalid_input`
 *   for a field that cannot be changed.
 */
export async function editLead(
  leads: LeadStore,
  principal: Principal,
  id: string,
  patch: LeadPatch,
  ifMatch?: ReadonlySet<number>,
): Promise<{ lead: LeadDetail; extraLeftOut: number }> {
  if (patch.status === undefined && patch.reason !== undefined) {
    throw refused({ '/reason': 'goes with a status only' });
  }
  const mistaken = Object.keys(patch).filter((field) => fixed.has(field));
  if (mistaken.length > 0) {
    throw refused(Object.fromEntries(mistaken.map((field) => [`/${field}`, 'cannot be changed'])));
  }

  for (let attempt = 1; attempt <= attempts; attempt++) {
    const found = await findLead(leads, principal, id);
    // Not before: of what it may not see, a publisher is not told what it may not do.
    if (patch.status !== undefined) requireManager(principal);
    if (ifMatch?.has(found.version) === false) throw new LeadsError('precondition_failed');
    const { lead, change, extraLeftOut } = edited(found, patch, principal);
    if (change === undefined) return { lead: toLeadDetail(found), extraLeftOut };
    const updatedAt = (await leads.change(principal.workspaceId, [{ lead, change }])).get(lead.id);
    if (updatedAt !== undefined) return { lead: toLeadDetail({ ...lead, updatedAt }), extraLeftOut };
    // Overtaken. Fields may be set on top of what has changed; a status was decided on what is no more.
    if (ifMatch !== undefined) throw new LeadsError('precondition_failed');
    if (patch.status !== undefined) break;
  }
  throw new LeadsError('conflict', { message: overtaken });
}

function refused(reasons: Readonly<Record<string, string>>): LeadsError {
  const fields = Object.entries(reasons).map(([path, reason]) => ({ at: 'body' as const, path, reason }));
  return new LeadsError('invalid_input', { fields });
}

/** What is answered to the second of two who change a status at once. */
export const overtaken = 'The lead was changed by another at the same time';

/** A lead after an edit, and the entry of its history; none where the edit changes nothing. */
function edited(
  found: FoundLead,
  patch: LeadPatch,
  principal: Principal,
): { lead: FoundLead; change: LeadChange | undefined; extraLeftOut: number } {
  const { status, reason } = patch;
  if (status !== undefined) checkTransition(found.status, status, { role: principal.role, reason });

  const { values, extraLeftOut } = patched(found, patch);
  const fields: Record<string, { from?: unknown; to?: unknown }> = {};
  for (const [field, to] of Object.entries(values)) {
    const from = found[field as keyof FoundLead];
    if (from !== to) fields[field] = { from: shown(field, from), to: shown(field, to) };
  }
  const isEdit = Object.keys(fields).length > 0;
  if (status === undefined && !isEdit) return { lead: found, change: undefined, extraLeftOut };

  const now = new Date();
  const version = found.version + 1;
  const lead = { ...found, ...values, status: status ?? found.status, version, updatedAt: now };
  return {
    lead: { ...lead, phoneE164: parsePhone(lead.phone, lead.country)?.e164 },
    change: {
      version,
      userId: principal.userId,
      status: status && { from: found.status, to: status },
      reason,
      fields: isEdit ? fields : undefined,
      createdAt: now,
    },
    extraLeftOut,
  };
}

const named = new Set(Object.keys(LeadPatch.properties));

/** The values that an edit gives; `undefined` for what it takes away. */
function patched(found: FoundLead, patch: LeadPatch) {
  const { status: _status, reason: _reason, ...given } = patch;
  const values = Object.fromEntries(
    Object.entries(given)
      .filter(([field]) => named.has(field))
      .map(([field, value]) => [field, value === '' ? undefined : value]),
  );
  const unknown = keepExtra(given, named);
  if (unknown.json === undefined) return { values, extraLeftOut: unknown.leftOut };
  const before = found.extra === undefined ? {} : (JSON.parse(found.extra) as object);
  const { extra, leftOut } = withinBounds(before, JSON.parse(unknown.json) as object);
  const extraLeftOut = unknown.leftOut + leftOut;
  // Compared by value: Postgres writes the same object in another order.
  const isSame = isDeepStrictEqual(extra, before);
  return { values: isSame ? values : { ...values, extra: keepExtra(extra, new Set()).json }, extraLeftOut };
}

/** An object with members added or replaced, one by one: what there is no room for leaves what was there. */
function withinBounds(before: object, members: object): { extra: object; leftOut: number } {
  let extra = before;
  let leftOut = 0;
  for (const [name, value] of Object.entries(members)) {
    const grown = { ...extra, [name]: value as unknown };
    if (keepExtra(grown, new Set()).leftOut === 0) extra = grown;
    else leftOut += 1;
  }
  return { extra, leftOut };
}

function shown(field: string, value: unknown): unknown {
  return field === 'extra' && typeof value === 'string' ? JSON.parse(value) : value;
}
