import type { Principal } from '@leads/core/credential';
import { createWorkspaceStore, type Database } from '@leads/core/db';
import { uuidv7 as newId } from 'uuidv7';
import { withClient } from '../stack/database.ts';

/** A workspace with random changes. */
export interface Tenant {
  readonly owner: Principal;
  /** The owner and the publishers. */
  readonly userIds: readonly string[];
  /** Leads of the first campaign have a hold time. */
  readonly campaignIds: readonly string[];
  /** The leads that are not erased. */
  readonly leadIds: string[];
}

const workspaces = 2;
const publishers = 3;
const campaigns = ['second', 'third'];
export const holdSeconds = 60;

/** Creates workspaces with an owner, three publishers and three campaigns each. */
export async function createTenants(databaseUrl: string, database: Database): Promise<Tenant[]> {
  const store = createWorkspaceStore(database);
  const tenants: Tenant[] = [];
  for (let at = 0; at < workspaces; at++) {
    const workspace = { slug: `payouts-${newId()}`, name: 'Payouts' };
    const addMember = (role: 'owner' | 'publisher', name: string) =>
      store.addMember({ email: `${name}@${workspace.slug}.example.com`, name, role, workspace });
    const { user, workspace: created } = await addMember('owner', 'owner');
    const userIds = [user.id];
    for (let each = 0; each < publishers; each++) {
      userIds.push((await addMember('publisher', `publisher-${each}`)).user.id);
    }
    const campaignIds = await withClient(databaseUrl, async (client) => {
      await client.query(
        `INSERT INTO campaign (id, workspace_id, code, name, is_default, updated_at)
        SELECT gen_random_uuid(), $1, code, code, false, now() FROM unnest($2::text[]) AS code`,
        [created.id, campaigns],
      );
      const { rows } = await client.query<{ id: string }>(
        'SELECT id FROM campaign WHERE workspace_id = $1 ORDER BY is_default DESC, code',
        [created.id],
      );
      await client.query('UPDATE campaign SET approve_after_seconds = $2 WHERE id = $1', [
        rows[0]?.id,
        holdSeconds,
      ]);
      return rows.map(({ id }) => id);
    });
    const owner = { workspaceId: created.id, userId: user.id, role: 'owner', scope: 'full' } as const;
    tenants.push({ owner, userIds, campaignIds, leadIds: [] });
  }
  return tenants;
}
