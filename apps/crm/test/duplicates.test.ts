import type { Lead, LeadDetail } from '@leads/core/lead';
import type { TestMember } from '@leads/test-kit/fixture';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { afterAll, describe, expect, test } from 'vitest';
import { ok, startTwoCrms } from './leads-api.ts';

const crms = await startTwoCrms();
afterAll(() => crms[Symbol.asyncDispose]());
const { apis, fixture, services } = crms;
const [api] = apis;

async function workspaceWithWindow(seconds: number | null = 3600) {
  const workspace = await fixture.createWorkspace();
  await setWindow(workspace.demoCampaignId, seconds);
  return workspace;
}

async function setWindow(campaignId: string, seconds: number | null) {
  await fixture.sql('UPDATE campaign SET duplicate_window_seconds = $2 WHERE id = $1', [campaignId, seconds]);
}

/** Changes the window by the API, so that the instance does not use a cached campaign. */
async function changeWindow(owner: TestMember, campaignId: string, seconds: number) {
  const path = `/api/v1/campaigns/${campaignId}`;
  const body = { duplicateWindowSeconds: seconds };
  ok(await services[0].send({ method: 'PATCH', path, headers: { ...owner.headers }, body }));
}

async function create(member: TestMember, body: object = {}): Promise<LeadDetail> {
  const sent = { name: personalData.name, phone: personalData.phone, ...body };
  const { lead } = ok<{ lead: Lead }>(await api.create(member, sent));
  const detail = await api.get(member, lead.id);
  expect(detail.status).toBe(lead.status);
  return detail;
}

const notDuplicate = { status: 'OnHold' };
const duplicateOf = ({ id }: { id: string }) => ({ status: 'Trashed', duplicateOf: id });
const duplicateStateOf = ({ status, duplicateOf: first }: LeadDetail) =>
  first === undefined ? { status } : { status, duplicateOf: first };

describe('duplicates', () => {
  test('are trashed and name the first lead, in any spelling of the phone number', async () => {
    const { owner } = await workspaceWithWindow();
    const first = await create(owner);
    expect(duplicateStateOf(first)).toEqual(notDuplicate);
    for (const body of [
      { phone: '+442079460958' },
      { phone: '+44 (0)20 7946-0958' },
      { phone: '020 7946 0958', country: 'GB' },
      { phone: 'tel:+44-20-7946-0958', name: 'Another' },
    ]) {
      const lead = await create(owner, body);
      expect(duplicateStateOf(lead)).toEqual(duplicateOf(first));
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

  test('are not detected without a window, across campaigns, across workspaces, or for other numbers', async () => {
    const workspace = await workspaceWithWindow();
    const { owner } = workspace;
    await setWindow(await workspace.addCampaign('OTHER'), 3600);
    await workspace.addCampaign('UNWATCHED');
    await create(owner);
    for (const body of [
      { campaignCode: 'OTHER' },
      { campaignCode: 'UNWATCHED' },
      { campaignCode: 'UNWATCHED' },
      { phone: '+44 20 7946 0959' },
      { phone: '+1 202 794 60958' },
    ]) {
      expect(duplicateStateOf(await create(owner, body))).toEqual(notDuplicate);
    }
    expect(duplicateStateOf(await create((await workspaceWithWindow()).owner))).toEqual(notDuplicate);
  });

  test('are not detected if the phone number cannot be parsed', async () => {
    const { owner } = await workspaceWithWindow();
    for (const phone of ['020 7946 0958', '020 7946 0958', 'ask', 'ask', '112', '112']) {
      expect(duplicateStateOf(await create(owner, { phone }))).toEqual(notDuplicate);
    }
  });

  test('are detected even if another user sent the first lead, or if it was trashed or changed since', async () => {
    const workspace = await workspaceWithWindow();
    const publisher = await workspace.addMember('publisher');
    const first = await create(publisher);
    ok(await api.edit(workspace.owner, first.id, { status: 'Trashed', reason: 'No answer' }));
    expect(duplicateStateOf(await create(workspace.owner))).toEqual(duplicateOf(first));
    ok(await api.edit(workspace.owner, first.id, { phone: '+1 202 555 0143' }));
    // Only the second lead still has this number. It is a duplicate of the first, so the first is named.
    expect(duplicateStateOf(await create(workspace.owner))).toEqual(duplicateOf(first));
    expect(duplicateStateOf(await create(workspace.owner, { phone: '202 555 0143', country: 'US' }))).toEqual(
      duplicateOf(first),
    );
  });

  test('are detected within the current window of the campaign', async () => {
    const workspace = await workspaceWithWindow(3600);
    const { owner, demoCampaignId } = workspace;
    const first = await create(owner);
    const age = (seconds: number) =>
      fixture.sql(
        `UPDATE lead SET created_at = now() - make_interval(secs => $2), updated_at = now() WHERE id = $1`,
        [first.id, seconds],
      );
    await age(3605);
    const fresh = await create(owner);
    expect(duplicateStateOf(fresh)).toEqual(notDuplicate);
    expect(duplicateStateOf(await create(owner))).toEqual(duplicateOf(fresh));
    await changeWindow(owner, demoCampaignId, 0);
    expect(duplicateStateOf(await create(owner))).toEqual(notDuplicate);

    const aged = await workspaceWithWindow(3600);
    const old = await create(aged.owner);
    await fixture.sql(
      `UPDATE lead SET created_at = now() - interval '3590 seconds', updated_at = now() WHERE id = $1`,
      [old.id],
    );
    expect(duplicateStateOf(await create(aged.owner))).toEqual(duplicateOf(old));
    await changeWindow(aged.owner, aged.demoCampaignId, 1);
    await fixture.sql(`UPDATE lead SET created_at = now() - interval '2 seconds' WHERE workspace_id = $1`, [
      aged.id,
    ]);
    expect(duplicateStateOf(await create(aged.owner))).toEqual(notDuplicate);
  });

  test('are all but one of 50 leads that 2 instances create concurrently, and they name that one', async () => {
    for (let round = 0; round < 3; round++) {
      const { owner, id } = await workspaceWithWindow();
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
      const onHold = rows.filter(({ status }) => status === 'OnHold');
      expect(onHold).toHaveLength(1);
      const first = onHold[0]?.id;
      for (const row of rows) expect(row.duplicate_of).toBe(row.id === first ? null : first);
    }
  });

  test('can return to OnHold and still name the first lead', async () => {
    const { owner } = await workspaceWithWindow();
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
