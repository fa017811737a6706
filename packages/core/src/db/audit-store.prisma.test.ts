import { expect, test } from 'vitest';
import { addTenant } from '../../test/database.ts';
import { openTestDatabase } from '../../test/open-test-database.ts';
import { type AuditOrigin, createRecordAction } from '../audit/audit-log.ts';
import { newId } from '../uuid.ts';
import { createAuditStore } from './audit-store.prisma.ts';

const [database, connection] = await openTestDatabase();
const [a, b] = [await addTenant(database, 'a'), await addTenant(database, 'b')];
const store = createAuditStore(connection);
const origin: AuditOrigin = { source: 'website', address: '203.0.113.7', userAgent: 'test' };
const failed: unknown[] = [];
const record = (...args: Parameters<ReturnType<typeof createRecordAction>>) =>
  createRecordAction(store, (error, lost) => failed.push([error, lost]))(...args);

test('an action is listed in its workspace only, with its actor and origin', async () => {
  const { workspaceId, userId } = a;
  const keyId = newId();
  const scope = { workspaceId };
  await record(
    { ...origin, actorId: userId, apiKeyId: keyId },
    { action: 'api_key.created', scope, targetId: keyId, details: { name: 'Shop', scope: undefined } },
  );
  const [entry, ...others] = await store.list({ workspaceId }, 10);
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    workspaceId,
    action: 'api_key.created',
    source: 'website',
    actorId: userId,
    actorEmail: expect.stringContaining('@'),
    apiKeyId: keyId,
    targetId: keyId,
    address: '203.0.113.7',
    userAgent: 'test',
    details: { name: 'Shop' },
  });
  expect(await store.list({ workspaceId: b.workspaceId }, 10)).toEqual([]);
});

test('a sign-in is recorded in every workspace of the user, and an unknown address in none', async () => {
  await record(origin, { action: 'sign_in', scope: { userId: b.userId } });
  await record(origin, { action: 'sign_in.failed', scope: { email: 'unknown@example.com' } });
  const actions = (await store.list({ workspaceId: b.workspaceId }, 10)).map(({ action }) => action);
  expect(actions).toEqual(['sign_in']);
});

test('texts of a request are cut, and invalid origins are stored without an address', async () => {
  const { workspaceId } = await addTenant(database, 'c');
  const long = 'x'.repeat(10_000);
  await record(
    { source: 'api', address: '', userAgent: long },
    {
      action: 'workspace.renamed',
      scope: { workspaceId },
      details: { name: `${'x'.repeat(999)}\u{1F600}` },
    },
  );
  const [entry] = await store.list({ workspaceId }, 10);
  expect(entry).toMatchObject({ userAgent: 'x'.repeat(255), details: { name: `${'x'.repeat(999)}\uFFFD` } });
  expect(entry?.address).toBeUndefined();
});

test('pages follow each other without gaps and repeats, and filters apply', async () => {
  const { workspaceId, userId } = await addTenant(database, 'd');
  for (let index = 0; index < 5; index++) {
    const action = index % 2 === 0 ? 'sign_in' : 'sign_out';
    await record({ ...origin, actorId: userId }, { action, scope: { workspaceId }, details: { index } });
  }
  const first = await store.list({ workspaceId }, 3);
  const second = await store.list({ workspaceId }, 3, first.at(-1));
  expect([...first, ...second].map(({ details }) => details['index'])).toEqual([4, 3, 2, 1, 0]);
  expect(await store.list({ workspaceId, action: 'sign_out' }, 10)).toHaveLength(2);
  expect(await store.list({ workspaceId, actorId: newId() }, 10)).toEqual([]);
  expect(await store.list({ workspaceId, actorId: userId }, 10)).toHaveLength(5);
  const at = second[0]?.at ?? new Date(0);
  const split = [
    await store.list({ workspaceId, from: at }, 10),
    await store.list({ workspaceId, to: at }, 10),
  ];
  expect(split.flat()).toHaveLength(5);
});

test.each(['UPDATE audit_entry SET action = action', 'DELETE FROM audit_entry', 'TRUNCATE audit_entry'])(
  'the log is append-only: %s is rejected, also for the owner of the table',
  async (statement) => {
    await expect(database.query(statement)).rejects.toMatchObject({ code: '42501' });
  },
);

test('a failed write is reported, and does not fail the action', async () => {
  const before = failed.length;
  await record(
    { ...origin, actorId: 'no uuid' },
    { action: 'sign_in', scope: { workspaceId: a.workspaceId } },
  );
  expect(failed.slice(before)).toEqual([[expect.anything(), { action: 'sign_in', targetId: undefined }]]);
});
