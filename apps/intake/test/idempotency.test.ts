import { randomUUID } from 'node:crypto';
import { LeadBatcher } from '@leads/core/background/lead-batcher';
import { CampaignCodes } from '@leads/core/campaign';
import { issueApiKey } from '@leads/core/credential';
import { createLead, earlierId } from '@leads/core/lead';
import { openFixture, type TestMember } from '@leads/test-kit/fixture';
import { personalData } from '@leads/test-kit/log-check/confidential';
import type { RunningService } from '@leads/test-kit/running-service';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { afterAll, describe, expect, test } from 'vitest';
import { startIntakeService } from './intake.ts';

const database = await createTestDatabase();
const fixture = openFixture(database.url);
const services = [await startIntakeService(database.url), await startIntakeService(database.url)] as const;
afterAll(async () => {
  for (const service of services) await service[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const person = { name: personalData.name, phone: personalData.phone };

const reused = {
  success: false,
  error: 'validation',
  message: 'The Idempotency-Key was used for another request',
};

const send = (
  member: TestMember,
  body: object | string,
  key?: string,
  service: RunningService = services[0],
  headers: Record<string, string> = {},
) =>
  service.send({
    method: 'POST',
    path: '/api/v1/leads',
    headers: {
      API_KEY: member.apiKey,
      ...(typeof body === 'string' && { 'Content-Type': 'application/json' }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
      ...headers,
    },
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
  test('sent in concurrent requests to two instances creates one lead', async () => {
    const { owner, id } = await fixture.createWorkspace();
    const key = randomUUID();
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, i) => submit(owner, person, key, either(i))),
    );
    expect(new Set(ids).size).toBe(1);
    expect((await stored(id)).map((lead) => lead.id)).toEqual([ids[0]]);
  });

  test('sent concurrently with 2 contents creates one lead, and the other content gets 422', async () => {
    const { owner, id } = await fixture.createWorkspace();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        send(owner, { ...person, name: `Lead ${i % 2}` }, 'one', either(i >> 1)),
      ),
    );
    const [lead] = await stored(id);
    for (const [i, answer] of answers.entries()) {
      expect([i, answer.status]).toEqual([i, lead?.name === `Lead ${i % 2}` ? 200 : 422]);
    }
    expect(await stored(id)).toHaveLength(1);
  });

  test('of a stored lead returns the id of that lead and does not change it', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner } = workspace;
    const key = 'x'.repeat(255);
    const first = await submit(owner, { ...person, s1: 'x', note: { deep: [1] } }, key);
    await fixture.sql(`UPDATE lead SET name = 'Edited', status = 'Approved', version = 2 WHERE id = $1`, [
      first,
    ]);
    const repeated = { note: { deep: [1] }, s1: 'x', ...person };
    expect(await submit(owner, repeated, key, services[1])).toBe(first);
    expect(await stored(workspace.id)).toEqual([
      { id: first, name: 'Edited', status: 'Approved', duplicate_of: null },
    ]);
    expect(await submit(owner, person, 'y')).not.toBe(first);
    expect(await submit(owner, person)).not.toBe(first);
  });

  test('is rejected with 422 if any field differs, and no lead is created', async () => {
    const { owner, id } = await fixture.createWorkspace();
    const body = { ...person, s1: 'x', lp_name: 'page', address: 'a', note: 1 };
    await submit(owner, body, 'k');
    for (const field of Object.keys(body)) {
      const answer = await send(owner, { ...body, [field]: 'other' }, 'k');
      expect([field, answer.status, answer.json()]).toEqual([field, 422, reused]);
    }
    expect((await send(owner, person, 'k', services[1])).json()).toEqual(reused);
    expect(await stored(id)).toHaveLength(1);
  });

  test('is rejected with 422 if only the digits of an integer beyond 2^53 differ', async () => {
    const { owner } = await fixture.createWorkspace();
    const body = (clickId: string) => `${JSON.stringify(person).slice(0, -1)},"click_id":${clickId}}`;
    const id = await submit(owner, body('12345678901234567890'), 'k');
    expect(await submit(owner, body('12345678901234567890'), 'k')).toBe(id);
    expect((await send(owner, body('12345678901234567891'), 'k')).status).toBe(422);
    const [lead] = await fixture.sql('SELECT extra FROM lead WHERE id = $1', [id]);
    expect(lead).toEqual({ extra: { click_id: '12345678901234567890' } });
    const named = await send(owner, `{"name":12345678901234567890,"phone":"1"}`);
    expect(named.status).toBe(400);
  });

  test('of a browser key does not affect a lead that a secret key sends with the same Idempotency-Key', async () => {
    const { owner, id } = await fixture.createWorkspace();
    const origin = 'https://offer.example';
    const { apiKey } = await issueApiKey(fixture.credentials, owner, {
      name: 'Page',
      scope: 'intake',
      allowedOrigins: [origin],
    });
    const page = { ...owner, apiKey };
    const junk = await submit(page, { name: 'Junk', phone: '0' }, 'order-4712', services[0], {
      Origin: origin,
    });
    const real = await submit(owner, person, 'order-4712');
    expect(real).not.toBe(junk);
    const names = [personalData.name, 'Junk'];
    expect((await stored(id)).map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    // A page may repeat its own request.
    const again = { name: 'Junk', phone: '0' };
    expect(await submit(page, again, 'order-4712', services[1], { Origin: origin })).toBe(junk);
    const other = await send(page, person, 'order-4712', services[0], { Origin: origin });
    expect([other.status, other.json()]).toEqual([422, reused]);
  });

  test('is separate for each user of a workspace, and the same for all secret keys of a user', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, id } = workspace;
    const publisher = await workspace.addMember('publisher', { scope: 'intake' });
    const theirs = await submit(publisher, { name: 'Junk', phone: '0' }, 'k');
    const own = await submit(owner, person, 'k');
    expect(own).not.toBe(theirs);
    const next = await issueApiKey(fixture.credentials, owner, { name: 'Rotated', scope: 'intake' });
    await fixture.sql('UPDATE api_key SET revoked_at = now() WHERE id = $1', [owner.apiKeyId]);
    expect(await submit({ ...owner, apiKey: next.apiKey }, person, 'k', services[1])).toBe(own);
    expect(await stored(id)).toHaveLength(2);
  });

  test('of a lead that the release before stored returns the id of that lead for the same content', async () => {
    const { owner, id } = await fixture.createWorkspace();
    const earlier = earlierId({ ...owner, isBrowser: false }, 'old');
    const first = await submit(owner, { ...person, note: { b: 1, a: 2 } });
    await fixture.copyLead(first, earlier);
    const again = { ...person, note: { a: 2, b: 1 } };
    expect(await submit(owner, again, 'old')).toBe(earlier);
    expect(await stored(id)).toHaveLength(2);
    const other = await submit(owner, { ...again, name: 'Other' }, 'old', services[1]);
    expect(other).not.toBe(earlier);
    expect(await stored(id)).toHaveLength(3);
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

  test('of a lead created at the CRM by the same user is rejected with 422', async () => {
    const { owner, id } = await fixture.createWorkspace();
    const principal = { ...owner, scope: 'full' as const };
    const stores = {
      campaigns: new CampaignCodes(fixture.campaigns),
      leads: fixture.leads,
      sink: new LeadBatcher(fixture.leads),
    };
    const { lead } = await createLead(stores, principal, { campaignCode: 'DEMO', ...person }, 'shared');
    expect((await send(owner, person, 'shared')).json()).toEqual(reused);
    expect(await stored(id)).toHaveLength(1);
    const created = await submit(owner, person, 'of the intake');
    await expect(
      createLead(stores, principal, { campaignCode: 'DEMO', ...person }, 'of the intake'),
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
    expect(await submit(owner, { ...person, phone: 'tel:+44-20-7946-0958' }, 'key')).toBe(third);
    expect(await stored(id)).toMatchObject([
      { id: first, status: 'OnHold', duplicate_of: null },
      { id: second, status: 'Trashed', duplicate_of: first },
      { id: third, status: 'Trashed', duplicate_of: first },
    ]);
  });

  test('are detected within the campaign of the landing page', async () => {
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
        { interval: 500 },
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
