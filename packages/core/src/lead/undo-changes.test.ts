import { expect, test } from 'vitest';
import { addTenant, leadOf } from '../../test/database.ts';
import { openTestDatabase } from '../../test/open-test-database.ts';
import { createLeadStore } from '../db/lead-store.prisma.ts';
import { createWorkspaceStore } from '../db/workspace-store.prisma.ts';
import { assignLeads } from './assign-leads.ts';
import { undoAssignment } from './undo-changes.ts';

const [testDatabase, database] = await openTestDatabase();
const leads = createLeadStore(database);
const workspaces = createWorkspaceStore(database);

test('the undo of an assignment succeeds for leads that another undo of it has changed back meanwhile, and not for leads that a user has changed', async () => {
  const tenant = await addTenant(testDatabase, 'undone');
  const { workspaceId, userId } = tenant;
  const principal = { workspaceId, userId, role: 'owner', scope: 'full' } as const;
  const [undone, changed] = [leadOf(tenant), leadOf(tenant)];
  await leads.insert([undone, changed]);
  const ids = [undone.id, changed.id];
  const { changeId = '' } = await assignLeads({ leads, workspaces }, principal, { ids, assigneeId: userId });
  await assignLeads({ leads, workspaces }, principal, {
    ids: [changed.id],
    callbackAt: '2026-12-01T09:00:00Z',
  });

  let others = 0;
  const overtaken: typeof leads = {
    ...leads,
    // Another request undoes the assignment between the read of this request and its changes.
    async bulkChanges(...given) {
      const read = await leads.bulkChanges(...given);
      if (others === 0) {
        others += 1;
        await undoAssignment({ leads, workspaces }, principal, changeId);
      }
      return read;
    },
  };
  const results = await undoAssignment({ leads: overtaken, workspaces }, principal, changeId);
  const byId = new Map(results.map((result) => [result.id, result]));
  expect(byId.get(undone.id)).toEqual({ id: undone.id, version: 3 });
  expect(byId.get(changed.id)).toMatchObject({ error: { code: 'conflict' } });
  const found = await leads.find({ workspaceId }, ids);
  expect(new Map(found.map(({ id, assigneeId }) => [id, assigneeId]))).toEqual(
    new Map([
      [undone.id, undefined],
      [changed.id, userId],
    ]),
  );
});
