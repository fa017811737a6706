import type { LeadHistoryEntry } from './lead.schema.ts';
import type { StoredLead } from './lead.ts';
import { duplicateReason, duplicateStatus, initialStatus } from './lead-status.ts';
import type { LeadChange } from './lead-store.ts';

/** Returns the first entry of a history. It is not stored: it follows from the lead itself. */
export function creationOf(lead: StoredLead): LeadHistoryEntry {
  return {
    version: 1,
    type: 'created',
    createdAt: lead.createdAt.toISOString(),
    userId: lead.userId,
    ...(lead.duplicateOf === undefined
      ? { to: initialStatus }
      : { to: duplicateStatus, reason: duplicateReason, duplicateOf: lead.duplicateOf }),
  };
}

/** Returns the entry of a history for a change. */
export function toHistoryEntry(change: LeadChange): LeadHistoryEntry {
  const { version, userId, status, reason, fields, createdAt } = change;
  const by = { createdAt: createdAt.toISOString(), ...(userId !== undefined && { userId }) };
  const note = fields?.['note']?.to;
  if (typeof note === 'string') return { version, type: 'note_added', ...by, noteId: note };
  return {
    version,
    type: status === undefined ? 'updated' : 'status_changed',
    ...by,
    ...status,
    ...(reason !== undefined && { reason }),
    ...(fields !== undefined && { fields }),
  };
}
