import { DisposeStack } from '@leads/core/dispose-stack';
import type { Lead } from '@leads/core/lead';
import { jwtSecret, openFixture } from '@leads/test-kit/fixture';
import { createServiceRoles } from '@leads/test-kit/service-roles';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { afterAll, expect, test } from 'vitest';
import { createAccessTokenCodec } from '../src/access-token-codec.ts';
import { startCrmService } from './crm.ts';
import { leadsApi, ok } from './leads-api.ts';

const resources = new DisposeStack();
afterAll(() => resources[Symbol.asyncDispose]());
const database = resources.use(await createTestDatabase());
// Row-level security applies to this role only.
const roles = resources.use(await createServiceRoles(database.url));
const fixture = resources.use(openFixture(database.url, await createAccessTokenCodec(jwtSecret)));
const service = resources.use(await startCrmService(roles.crm));
const api = leadsApi(service);
const [first, second] = [await fixture.createWorkspace(), await fixture.createWorkspace()];

const phone = '+1 202 555 0143';
/** Returns the value of a metric without labels. */
const metric = async (name: string) => {
  const { text } = await service.send({ path: '/metrics' });
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
};

test('leads of several workspaces share a batch, and each is stored in the workspace of its request', async () => {
  await Promise.all([first, second].map(({ owner }) => api.create(owner, { name: 'before', phone })));
  const [batches, leads] = [await metric('lead_batch_size_count'), await metric('lead_batch_size_sum')];
  const release = await fixture.holdTable('lead');
  const sent = Array.from({ length: 40 }, (_, n) => {
    const workspace = n % 2 === 0 ? first : second;
    const key = n % 4 < 2 ? { 'Idempotency-Key': 'same' } : {};
    const name = n % 4 < 2 ? 'same' : `lead ${n}`;
    return { workspace, answer: api.create(workspace.owner, { name, phone }, key) };
  });
  await release();
  const stored = await Promise.all(
    sent.map(async ({ workspace, answer }) => ({
      id: ok<{ lead: Lead }>(await answer).lead.id,
      workspaceId: workspace.id,
    })),
  );
  expect((await metric('lead_batch_size_sum')) - leads).toBe(40);
  expect((await metric('lead_batch_size_count')) - batches).toBeLessThan(20);
  const rows = await fixture.sql<{ id: string; workspaceId: string }>(
    'SELECT id, workspace_id AS "workspaceId" FROM lead WHERE id = ANY($1::uuid[])',
    [stored.map(({ id }) => id)],
  );
  expect(rows).toHaveLength(22);
  expect(new Map(rows.map(({ id, workspaceId }) => [id, workspaceId]))).toEqual(
    new Map(stored.map(({ id, workspaceId }) => [id, workspaceId])),
  );
});

test('a lead that the database rejects, and one with a used key, do not affect other leads of the batch', async () => {
  await fixture.sql(`ALTER TABLE lead ADD CONSTRAINT poison CHECK (name NOT LIKE 'Poison%')`);
  try {
    const { owner } = first;
    const key = { 'Idempotency-Key': 'used' };
    ok(await api.create(owner, { name: 'first', phone }, key));
    const release = await fixture.holdTable('lead');
    const answers = Array.from({ length: 60 }, (_, n) =>
      n % 10 === 3
        ? api.create(owner, { name: 'Poison', phone })
        : n % 10 === 6
          ? api.create(owner, { name: 'other', phone }, key)
          : api.create(second.owner, { name: `lead ${n}`, phone }),
    );
    await release();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(
      answers.map((_, n) => (n % 10 === 3 ? 400 : n % 10 === 6 ? 422 : 200)),
    );
  } finally {
    await fixture.sql('ALTER TABLE lead DROP CONSTRAINT poison');
  }
});

test('a campaign that is paused on this instance takes no lead at once, and takes leads again when it is resumed', async () => {
  const { owner } = first;
  const id = await first.addCampaign('SOON-PAUSED');
  const create = () => api.create(owner, { campaignCode: 'SOON-PAUSED', name: 'Ada', phone });
  const setStatus = async (status: string) =>
    ok(
      await service.send({
        method: 'PATCH',
        path: `/api/v1/campaigns/${id}`,
        headers: { ...owner.headers },
        body: { status },
      }),
    );
  for (let round = 0; round < 3; round++) {
    expect((await create()).status).toBe(200);
    await setStatus('paused');
    expect((await create()).status).toBe(400);
    await setStatus('active');
  }
  expect((await create()).status).toBe(200);
});
