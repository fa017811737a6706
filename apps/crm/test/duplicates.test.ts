import type { Lead, LeadDetail } from '@leads/core/lead';
import type { TestMember } from '@leads/test-kit/fixture';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { afterAll, describe, expect, test } from 'vitest';
import { ok, startTwoCrms } from './leads-api.ts';

const crms = await startTwoCrms();
afterAll(() => crms[Symbol.asyncDispose]());
const { apis, fixture } = crms;
const [api] = apis;

async function watchedWorkspace(seconds: number | null = 3600) {
  const workspace = await fixture.createWorkspace();
  await watch(workspace.demoCampaignId, seconds);
  return workspace;
}

async function watch(campaignId: string, seconds: number | null) {
  await fixture.sql('UPDATE campaign SET duplicate_window_seconds = $2 WHERE id = $1', [campaignId, seconds]);
}

async function create(member: TestMember, body: object = {}): Promise<LeadDetail> {
  const sent = { name: personalData.name, phone: personalData.phone, ...body };
  const { lead } = ok<{ lead: Lead }>(await api.create(member, sent));
  const detail = await api.get(member, lead.id);
  expect(detail.status).toBe(lead.status);
  return detail;
}

const stands = { status: 'OnHold' };
const duplicateOf = ({ id }: { id: string }) => ({ status: 'Trashed', duplicateOf: id });
const whatOf = ({ status, duplicateOf: first }: LeadDetail) =>
  first === undefined ? { status } : { status, duplicateOf: first };

describe('duplicates', () => {
  test('are trashed and lead to the first, however the number is spelled', async () => {
    const { owner } = await watchedWorkspace();
    const first = await create(owner);
    expect(whatOf(first)).toEqual(stands);
    for (const body of [
      { phone: '+442079460958' },
      { phone: '+44 (0)20 7946-0958' },
      { phone: '020 7946 0958', country: 'GB' },
      { phone: 'tel:+44-20-7946-0958', name: 'Another' },
    ]) {
      const lead = await create(owner, body);
      expect(whatOf(lead)).toEqual(duplicateOf(first));
      expect(await api.history(owner, lead.id)).toEqual([
        {
          version: 1,
          type: 'created',
          createdAt: lead.createdAt,
          userId: owner.userId,
          to: 'Trashed',
          reason: 'duplicate',
          duplicateOf: first.id,
        },
      ]);
    }
  });

  test('are none without a window, in another campaign, in another workspace, of another number', async () => {
    const workspace = await watchedWorkspace();
    const { owner } = workspace;
    await watch(await workspace.addCampaign('OTHER'), 3600);
    await workspace.addCampaign('UNWATCHED');
    await create(owner);
    for (const body of [
      { campaignCode: 'OTHER' },
      { campaignCode: 'UNWATCHED' },
      { campaignCode: 'UNWATCHED' },
      { phone: '+44 20 7946 0959' },
      { phone: '+1 202 794 60958' },
    ]) {
      expect(whatOf(await create(owner, body))).toEqual(stands);
    }
    expect(whatOf(await create((await watchedWorkspace()).owner))).toEqual(stands);
  });

  test('are none where the number cannot be read', async () => {
    const { owner } = await watchedWorkspace();
    for (const phone of ['020 7946 0958', '020 7946 0958', 'ask', 'ask', '112', '112']) {
      expect(whatOf(await create(owner, { phone }))).toEqual(stands);
    }
  });

  test('are counted whoever sent the first, and though it was trashed, or moved on, meanwhile', async () => {
    const workspace = await watchedWorkspace();
    const publisher = await workspace.addMember('publisher');
    const first = await create(publisher);
    ok(await api.edit(workspace.owner, first.id, { status: 'Trashed', reason: 'No answer' }));
    expect(whatOf(await create(workspace.owner))).toEqual(duplicateOf(first));
    ok(await api.edit(workspace.owner, first.id, { phone: '+1 202 555 0143' }));
    // The second is now what the number was seen by; it is itself a duplicate of the first.
    expect(whatOf(await create(workspace.owner))).toEqual(duplicateOf(first));
    expect(whatOf(await create(workspace.owner, { phone: '202 555 0143', country: 'US' }))).toEqual(
      duplicateOf(first),
    );
  });

  test('are those within the window of the campaign as it is now', async () => {
    const workspace = await watchedWorkspace(3600);
    const { owner, demoCampaignId } = workspace;
    const first = await create(owner);
    const age = (seconds: number) =>
      fixture.sql(
        `UPDATE lead SET created_at = now() - make_interval(secs => $2), updated_at = now() WHERE id = $1`,
        [first.id, seconds],
      );
    await age(3605);
    const fresh = await create(owner);
    expect(whatOf(fresh)).toEqual(stands);
    expect(whatOf(await create(owner))).toEqual(duplicateOf(fresh));
    await watch(demoCampaignId, null);
    expect(whatOf(await create(owner))).toEqual(stands);

    const aged = await watchedWorkspace(3600);
    const old = await create(aged.owner);
    await fixture.sql(
      `UPDATE lead SET created_at = now() - interval '3590 seconds', updated_at = now() WHERE id = $1`,
      [old.id],
    );
    expect(whatOf(await create(aged.owner))).toEqual(duplicateOf(old));
    await watch(aged.demoCampaignId, 1);
    await fixture.sql(`UPDATE lead SET created_at = now() - interval '2 seconds' WHERE workspace_id = $1`, [
      aged.id,
    ]);
    expect(whatOf(await create(aged.owner))).toEqual(stands);
  });

  test('of many at once, over two instances, are all but one, and lead to that one', async () => {
    for (let round = 0; round < 3; round++) {
      const { owner, id } = await watchedWorkspace();
      const spellings = ['+44 20 7946 0958', '+442079460958', '+44 (0)20 7946 0958'];
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          apis[i % 2 === 0 ? 0 : 1].create(owner, { name: personalData.name, phone: spellings[i % 3] }),
        ),
      );
      for (const answer of answers) ok(answer);
      const rows = await fixture.sql<{ id: string; status: string; duplicate_of: string | null }>(
        'SELECT id, status, duplicate_of FROM lead WHERE workspace_id = $1',
        [id],
      );
      expect(rows).toHaveLength(50);
      const standing = rows.filter(({ status }) => status === 'OnHold');
      expect(standing).toHaveLength(1);
      const first = standing[0]?.id;
      for (const row of rows) expect(row.duplicate_of).toBe(row.id === first ? null : first);
    }
  });

  test('may be taken up again, and their first is still known', async () => {
    const { owner } = await watchedWorkspace();
    const first = await create(owner);
    const second = await create(owner);
    ok(await api.edit(owner, second.id, { status: 'OnHold' }));
    expect(await api.get(owner, second.id)).toMatchObject({ status: 'OnHold', duplicateOf: first.id });
    expect((await api.history(owner, second.id)).map(({ from, to }) => [from, to])).toEqual([
      [undefined, 'Trashed'],
      ['Trashed', 'OnHold'],
    ]);
  });
});
