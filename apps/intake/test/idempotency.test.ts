import { randomUUID } from 'node:crypto';
import { createLead } from '@leads/core/lead';
import { openFixture, type TestMember } from '@leads/test-kit/fixture';
import { personalData } from '@leads/test-kit/log-check/confidential';
import type { RunningService } from '@leads/test-kit/running-service';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { afterAll, describe, expect, test } from 'vitest';
import { startIntakeService } from './intake.ts';

const database = await createTestDatabase();
const fixture = openFixture(database.url);
/** Long timeouts, because many concurrent requests may wait on a busy machine. */
const longTimeouts = { DATABASE_CONNECT_TIMEOUT_MS: '20000', DATABASE_STATEMENT_TIMEOUT_MS: '20000' };
const services = [
  await startIntakeService(database.url, longTimeouts),
  await startIntakeService(database.url, longTimeouts),
] as const;
afterAll(async () => {
  for (const service of services) await service[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const person = { name: personalData.name, phone: personalData.phone };

const send = (member: TestMember, body: object, key?: string, service: RunningService = services[0]) =>
  service.send({
    method: 'POST',
    path: '/api/v1/leads',
    headers: { API_KEY: member.apiKey, ...(key !== undefined && { 'Idempotency-Key': key }) },
    body,
  });

async function submit(...request: Parameters<typeof send>): Promise<string> {
  const answer = await send(...request);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.json<{ order_id: string }>().order_id;
}

async function stored(workspaceId: string) {
  return fixture.sql<{ id: string; name: string; status: string; duplicate_of: string | null }>(
    'SELECT id, name, status, duplicate_of FROM lead WHERE workspace_id = $1 ORDER BY created_at, id',
    [workspaceId],
  );
}
const either = (i: number) => services[i % 2 === 0 ? 0 : 1];

describe('Idempotency-Key', () => {
  test('sent in concurrent requests to two instances creates one lead, whatever the content', async () => {
    const { owner, id } = await fixture.createWorkspace();
    const key = randomUUID();
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, i) => submit(owner, { ...person, name: `Lead ${i}` }, key, either(i))),
    );
    expect(new Set(ids).size).toBe(1);
    expect((await stored(id)).map((lead) => lead.id)).toEqual([ids[0]]);
  });

  test('of a stored lead returns the id of that lead and does not change it', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner } = workspace;
    const publisher = await workspace.addMember('publisher', { scope: 'intake' });
    const key = 'x'.repeat(255);
    const first = await submit(owner, person, key);
    await fixture.sql(`UPDATE lead SET name = 'Edited', status = 'Approved', version = 2 WHERE id = $1`, [
      first,
    ]);
    expect(await submit(owner, { ...person, name: 'Other', lp_name: 'new', s1: 'x' }, key)).toBe(first);
    expect(await submit(publisher, person, key, services[1])).toBe(first);
    expect(await stored(workspace.id)).toEqual([
      { id: first, name: 'Edited', status: 'Approved', duplicate_of: null },
    ]);
    expect(await submit(owner, person, 'y')).not.toBe(first);
    expect(await submit(owner, person)).not.toBe(first);
  });

  test('is separate in each workspace', async () => {
    const [one, two] = [await fixture.createWorkspace(), await fixture.createWorkspace()];
    const ids = [await submit(one.owner, person, 'k'), await submit(two.owner, person, 'k')];
    expect(ids[0]).not.toBe(ids[1]);
  });

  test('must have 1 to 255 characters, and may be reused after a rejected lead', async () => {
    const { owner, id } = await fixture.createWorkspace();
    for (const key of ['', 'x'.repeat(256)]) {
      const answer = await send(owner, person, key);
      expect([answer.status, answer.json()]).toEqual([
        400,
        { success: false, error: 'validation', message: 'Invalid input data' },
      ]);
    }
    expect((await send(owner, { name: '' }, 'k')).status).toBe(400);
    expect(await stored(id)).toEqual([]);
    await submit(owner, person, 'k');
    expect(await stored(id)).toHaveLength(1);
  });

  test('of a lead created at the CRM returns the id of that lead', async () => {
    const { owner, id } = await fixture.createWorkspace();
    const principal = { ...owner, scope: 'full' as const };
    const { lead } = await createLead(fixture, principal, { campaignCode: 'DEMO', ...person }, 'shared');
    expect(await submit(owner, { ...person, name: 'Other' }, 'shared')).toBe(lead.id);
    expect(await stored(id)).toHaveLength(1);
    const created = await submit(owner, person, 'of the intake');
    await expect(
      createLead(fixture, principal, { campaignCode: 'DEMO', ...person }, 'of the intake'),
    ).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    expect((await stored(id)).map((each) => each.id).toSorted()).toEqual([lead.id, created].toSorted());
  });
});

describe('duplicates', () => {
  const createDeduplicatingWorkspace = async () => {
    const workspace = await fixture.createWorkspace();
    await fixture.sql('UPDATE campaign SET duplicate_window_seconds = 3600 WHERE workspace_id = $1', [
      workspace.id,
    ]);
    return workspace;
  };

  test('are answered like other leads, and stored as Trashed with a reference to the first lead', async () => {
    const { owner, id } = await createDeduplicatingWorkspace();
    const first = await submit(owner, person);
    const second = await submit(owner, { ...person, phone: '+442079460958', lp_name: 'page' });
    const third = await submit(owner, { ...person, phone: 'tel:+44-20-7946-0958' }, 'key', services[1]);
    expect(await submit(owner, person, 'key')).toBe(third);
    expect(await stored(id)).toMatchObject([
      { id: first, status: 'OnHold', duplicate_of: null },
      { id: second, status: 'Trashed', duplicate_of: first },
      { id: third, status: 'Trashed', duplicate_of: first },
    ]);
  });

  test('are detected within the campaign of the landing page', { timeout: 20_000 }, async () => {
    const workspace = await createDeduplicatingWorkspace();
    const { owner, id } = workspace;
    await workspace.mapLandingPage('demo', workspace.demoCampaignId);
    const first = await submit(owner, person);
    const inDemo = await submit(owner, { ...person, lp_name: 'demo' });
    const again = await submit(owner, { ...person, lp_name: 'demo' });
    expect(await stored(id)).toMatchObject([
      { id: first, status: 'OnHold' },
      { id: inDemo, status: 'OnHold' },
      { id: again, status: 'Trashed', duplicate_of: inDemo },
    ]);
    await fixture.sql('UPDATE campaign SET duplicate_window_seconds = NULL WHERE workspace_id = $1', [id]);
    // The duplicate window of a campaign is cached for some seconds.
    await expect
      .poll(
        async () => {
          const last = await submit(owner, { ...person, lp_name: 'demo' });
          return (await stored(id)).find((lead) => lead.id === last)?.status;
        },
        { timeout: 25_000, interval: 500 },
      )
      .toBe('OnHold');
  });

  test('among concurrent requests to two instances are all leads but one, and one Idempotency-Key creates one lead', async () => {
    const { owner, id } = await createDeduplicatingWorkspace();
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, i) => submit(owner, person, i < 20 ? 'one key' : undefined, either(i))),
    );
    expect(new Set(ids).size).toBe(31);
    const leads = await stored(id);
    expect(leads).toHaveLength(31);
    const originals = leads.filter(({ status }) => status === 'OnHold');
    expect(originals).toHaveLength(1);
    for (const lead of leads) {
      expect(lead.duplicate_of).toBe(lead === originals[0] ? null : originals[0]?.id);
    }
  });
});
