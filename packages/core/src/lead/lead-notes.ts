import { type Principal, requirePermission } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';
import { readTimePage } from '../time-page.ts';
import { newId, uuidPattern } from '../uuid.ts';
import { findLead } from './get-lead.ts';
import type { LeadNote, LeadNoteQuery, NewLeadNote } from './lead-note.schema.ts';
import type { LeadNoteStore, StoredNote } from './lead-note-store.ts';
import type { LeadStore, Traced } from './lead-store.ts';

interface Stores {
  readonly leads: Pick<LeadStore, 'find'>;
  readonly notes: LeadNoteStore;
}

/**
 * Adds a note to a lead.
 *
 * @returns the note, and the version of the lead.
 * @throws LeadsError `forbidden` for a publisher; `not_found`; `invalid_input` if the lead has no such parent note.
 */
export async function addLeadNote(
  { leads, notes }: Stores,
  principal: Principal,
  leadId: string,
  { text, parentId, traceparent }: NewLeadNote & Traced,
): Promise<{ note: LeadNote; version: number }> {
  requirePermission(principal, 'writeNotes');
  const lead = await findLead(leads, principal, leadId);
  const parent = parentId === undefined ? undefined : await findParent(notes, lead, parentId.toLowerCase());
  const added = await notes.add(lead, {
    id: newId(),
    text,
    parentId: parent?.parentId ?? parent?.id,
    authorId: principal.userId,
    traceparent,
  });
  if (added === undefined) throw new LeadsError('not_found');
  return { note: toLeadNote(added.note), version: added.version };
}

async function findParent(notes: LeadNoteStore, lead: Parameters<LeadNoteStore['find']>[0], id: string) {
  const parent = uuidPattern.test(id) ? await notes.find(lead, id) : undefined;
  if (parent !== undefined) return parent;
  throw new LeadsError('invalid_input', {
    fields: [{ at: 'body', path: '/parentId', reason: 'must be the id of a note of the lead' }],
  });
}

/**
 * Returns a page of the notes of a lead, newest first.
 *
 * @throws LeadsError `forbidden` for a publisher; `not_found`; `invalid_cursor`
 */
export async function listLeadNotes(
  { leads, notes }: Stores,
  principal: Principal,
  leadId: string,
  query: LeadNoteQuery,
): Promise<{ notes: LeadNote[]; nextCursor?: string }> {
  requirePermission(principal, 'readInternals');
  const lead = await findLead(leads, principal, leadId);
  const { entries, ...next } = await readTimePage(
    query,
    (limit, after) => notes.list(lead, limit, after),
    ({ createdAt, id }) => ({ at: createdAt, id }),
  );
  return { notes: entries.map(toLeadNote), ...next };
}

function toLeadNote({ id, text, parentId, authorId, author, createdAt }: StoredNote): LeadNote {
  return {
    id,
    text,
    ...(parentId !== undefined && { parentId }),
    authorId,
    author,
    createdAt: createdAt.toISOString(),
  };
}
