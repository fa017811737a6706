import { setImmediate as turn } from 'node:timers/promises';
import { errorTable } from '@leads/core/errors';
import type { FoundLead, LeadStore } from '@leads/core/lead';
import { expect, test } from 'vitest';
import { DatabaseError } from '../db/database-error.ts';
import { leadFieldNames } from '../lead/lead-fields.ts';
import { batchLeadChanges } from './lead-change-batcher.ts';

type Changes = Parameters<LeadStore['change']>[1];
type Workspaces = Parameters<LeadStore['changeInEach']>[0];

/** A lead store that records its statements, and rejects changes of the reason `Poison` like Postgres. */
function setUp() {
  const finds: string[] = [];
  const changes: string[] = [];
  const versions = new Map<string, number>();
  let failure: Error | undefined;
  const leads = batchLeadChanges({
    async find(
      { workspaceId, userId = '' }: { workspaceId: string; userId?: string },
      ids: readonly string[],
    ) {
      finds.push(`${workspaceId}${userId}: ${ids.join(' ')}`);
      return ids
        .filter((id) => id.startsWith(workspaceId))
        .map((id) => ({ id, version: versions.get(id) ?? 1 }) as FoundLead);
    },
    async changeInEach(workspaces: Workspaces) {
      const all = workspaces.flatMap((each) => each.changes);
      const ids = workspaces.flatMap((each) =>
        each.changes.map(({ lead }) => `${each.workspaceId}/${lead.id}`),
      );
      changes.push(
        workspaces
          .map((each) => `${each.workspaceId}: ${each.changes.map(({ lead }) => lead.id).join(' ')}`)
          .join('; '),
      );
      await turn();
      if (failure !== undefined) throw failure;
      if (new Set(ids).size < ids.length) throw new Error('A lead occurs twice');
      if (all.some(({ change }) => change.reason === 'Poison')) throw new DatabaseError('23514', undefined);
      return workspaces.map(({ workspaceId, changes: ofWorkspace }) => {
        const current = ofWorkspace.filter(
          ({ lead }) => lead.id.startsWith(workspaceId) && (versions.get(lead.id) ?? 1) === lead.version - 1,
        );
        for (const { lead } of current) versions.set(lead.id, lead.version);
        return new Map(current.map(({ lead, change }) => [lead.id, { updatedAt: change.createdAt }]));
      });
    },
    async changeStatusInEach(workspaces: Parameters<LeadStore['changeStatusInEach']>[0]) {
      changes.push(workspaces.map((each) => each.changes.map(({ id }) => id).join(' ')).join('; '));
      return workspaces.map((each) => new Map(each.changes.map(({ id }) => [id, { id }])));
    },
  } as unknown as LeadStore);
  const change = async (
    workspaceId: string,
    id: string,
    reason = '',
    version = 2,
    texts: Partial<FoundLead> = {},
  ) => {
    try {
      const changed = await leads.change(workspaceId, [
        {
          lead: { id, name: 'Ada', phone: '1', version, ...texts },
          change: { version, reason, createdAt: new Date(0) },
        },
      ] as unknown as Changes);
      return changed.has(id) ? 'changed' : 'outdated';
    } catch (error) {
      return (error as Error).message;
    }
  };
  return {
    leads,
    finds,
    changes,
    change,
    fail: (error: Error | undefined) => {
      failure = error;
    },
  };
}

test('concurrent changes of leads share one transaction, also those of different workspaces', async () => {
  const { changes, change } = setUp();
  const ids = ['a1', 'b1', 'a2', 'b2', 'a3'];
  expect(await Promise.all(ids.map((id) => change(id.slice(0, 1), id)))).toEqual(ids.map(() => 'changed'));
  expect(changes).toEqual(['a: a1 a2 a3; b: b1 b2']);
});

test('a change of a lead of another workspace changes nothing, and does not affect the change of its own workspace', async () => {
  const { change } = setUp();
  expect(await Promise.all([change('b', 'a1', '', 9), change('a', 'a1'), change('b', 'a1')])).toEqual([
    'outdated',
    'changed',
    'outdated',
  ]);
});

test('of concurrent changes of one lead, the first of the newest version succeeds, and one statement is sent', async () => {
  const { changes, change } = setUp();
  const results = await Promise.all([
    change('a', 'a1', '', 1),
    change('a', 'a1'),
    change('a', 'a1'),
    change('a', 'a2'),
  ]);
  expect(results).toEqual(['outdated', 'changed', 'outdated', 'changed']);
  expect(changes).toEqual(['a: a1 a2']);
});

test('a change that the database rejects does not affect other changes of the batch', async () => {
  const { change } = setUp();
  const sent = Array.from({ length: 9 }, (_, n) => change('a', `a${n}`, n % 4 === 1 ? 'Poison' : ''));
  const again = change('a', 'a1');
  const rejected = expect.stringContaining('23514') as string;
  expect(await Promise.all(sent)).toEqual(sent.map((_, n) => (n % 4 === 1 ? rejected : 'changed')));
  expect(await again).toBe('changed');
  // Both change one lead, so they are in different statements.
  expect(await Promise.all([change('b', 'b1', 'Poison'), change('b', 'b1')])).toEqual([rejected, 'changed']);
});

test('concurrent changes of statuses share one transaction, and a second one of a lead finds no lead', async () => {
  const { leads, changes } = setUp();
  const changed = await Promise.all(
    ['a1', 'b1', 'a2', 'a1'].map((id) =>
      leads.changeStatus(id.slice(0, 1), {
        id,
        from: ['OnHold'],
        to: 'Approved',
        userId: 'user',
        createdAt: new Date(0),
      }),
    ),
  );
  expect(changed.map((lead) => lead?.id)).toEqual(['a1', 'b1', 'a2', undefined]);
  expect(changes).toEqual(['a1 a2; b1']);
});

test('an outage rejects all changes of the batch, and no later change', async () => {
  const { change, fail } = setUp();
  fail(new Error('failed'));
  expect(await Promise.all([change('a', 'a1'), change('a', 'a2')])).toEqual(['failed', 'failed']);
  fail(undefined);
  expect(await change('a', 'a1')).toBe('changed');
});

test('rejects changes beyond the memory limit, which counts every text of a waiting lead', async () => {
  const halfOfLimit = 16 * 1024 * 1024;
  const texts = ['name', 'phone', 's1', 'lpName', 'extra', ...leadFieldNames];
  for (const name of texts) {
    const { change } = setUp();
    const large = change('a', 'a1', '', 2, { [name]: 'x'.repeat(halfOfLimit) });
    expect([name, await change('a', 'a2')]).toEqual([name, errorTable.unavailable.message]);
    expect(await large).toBe('changed');
  }
});

test('concurrent reads of single leads share one statement for each scope', async () => {
  const { leads, finds } = setUp();
  const find = async (workspaceId: string, id: string, userId?: string) =>
    (await leads.find({ workspaceId, ...(userId !== undefined && { userId }) }, [id])).map((lead) => lead.id);
  expect(
    await Promise.all([
      find('a', 'a1'),
      find('a', 'a2'),
      find('a', 'a1'),
      find('b', 'a1'),
      find('a', 'a3', '/user'),
    ]),
  ).toEqual([['a1'], ['a2'], ['a1'], [], ['a3']]);
  expect(finds.toSorted()).toEqual(['a/user: a3', 'a: a1 a2', 'b: a1']);
});
