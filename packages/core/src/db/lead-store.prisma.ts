import type { LeadStore } from '../lead/lead-store.ts';
import type { Database } from './client.ts';
import { createLeadChanges } from './lead-changes.ts';
import { createLeadHistory } from './lead-history.ts';
import { createLeadInsert } from './lead-insert.ts';
import { createLeadReads } from './lead-reads.ts';

/** Creates the lead store in Postgres. */
export function createLeadStore(database: Database): LeadStore {
  return {
    insert: createLeadInsert(database),
    ...createLeadReads(database),
    ...createLeadChanges(database),
    ...createLeadHistory(database),
  };
}
