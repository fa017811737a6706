import { beforeEach } from 'vitest';
import { createLeadStore } from '../src/db/lead-store.prisma.ts';
import type { StoredLead } from '../src/lead/lead.ts';
import { addTenant } from './database.ts';
import { openTestDatabase } from './open-test-database.ts';

/** Opens a lead store for the tests of a file, in a database of its own. Each test begins without leads. */
export async function openLeadStore() {
  const [testDatabase, database] = await openTestDatabase();
  const tenant = await addTenant(testDatabase, 'acme');
  const otherTenant = await addTenant(testDatabase, 'umbrella');
  beforeEach(async () => {
    // The role of a replica disables the trigger that rejects TRUNCATE of the history.
    await testDatabase.query(`SET session_replication_role = replica;
      TRUNCATE lead, lead_change, lead_note, lead_viewer; SET session_replication_role = DEFAULT`);
  });
  return { testDatabase, database, store: createLeadStore(database), tenant, otherTenant };
}

/** Counts the sessions that wait for a lock. Postgres keeps the first count of a transaction unless it is cleared. */
export const waitingForLocks = `SELECT pg_stat_clear_snapshot(); SELECT count(*)::int AS count FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Values for the optional fields of a lead. */
export const optionalFields = {
  phoneE164: '+442079460958',
  address: '12 St James Square',
  email: 'ada@example.io',
  country: 'GB',
  region: 'Greater London',
  city: 'London',
  street: 'St James Square',
  zipcode: 'SW1Y 4JH',
  website: 'https://example.io',
  description: 'Call back',
  ip: '203.0.113.7',
  s1: 'click-1',
  lpName: 'spring-offer',
  extra: '{"utm": "x"}',
  state: 'England',
  contentHash: Buffer.alloc(32, 7),
  duplicateOf: '01900000-0000-7000-8000-00000000abcd',
} as const satisfies Partial<StoredLead>;
