import { setTimeout as sleep } from 'node:timers/promises';
import { issueApiKey } from '@leads/core/credential';
import type { TestMember } from '@leads/test-kit/fixture';
import { openFixture } from '@leads/test-kit/fixture';
import { personalData } from '@leads/test-kit/log-check/confidential';
import type { RunningService } from '@leads/test-kit/running-service';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { onOneDay } from '@leads/test-kit/one-day';
import { afterAll, describe, expect, test } from 'vitest';
import { startIntakeService } from './intake.ts';

const database = await createTestDatabase();
const fixture = openFixture(database.url);
const service = await startIntakeService(database.url);
/** A service behind a trusted proxy on this machine. */
const proxied = await startIntakeService(database.url, { TRUST_PROXY: 'loopback' });
const capped = await startIntakeService(database.url, { INTAKE_NEW_LANDING_PAGES_PER_DAY: '2' });
afterAll(async () => {
  await capped[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  await proxied[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const path = '/api/v1/leads';
const person = { name: personalData.name, phone: personalData.phone };

interface Row {
  id: string;
  campaign_id: string;
  user_id: string;
  ip: string;
  s1: string | null;
  lp_name: string | null;
  phone: string;
  phone_e164: string | null;
}

async function submit(
  apiKey: string,
  body: object,
  options: { to?: RunningService; headers?: Record<string, string | string[]> } = {},
): Promise<Row> {
  const { to = service, headers } = options;
  const answer = await to.send({ method: 'POST', path, headers: { API_KEY: apiKey, ...headers }, body });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  const { order_id: id } = answer.json<{ order_id: string }>();
  const [row] = await fixture.sql<Row & Record<string, unknown>>(
    'SELECT *, host(ip) AS ip FROM lead WHERE id = $1',
    [id],
  );
  if (row === undefined) throw new Error('The lead is not stored');
  return row;
}

async function landingPages(workspaceId: string, name: string) {
  return fixture.sql<{ campaign_id: string | null; is_pending: boolean }>(
    'SELECT campaign_id, pending_since IS NOT NULL AS is_pending FROM landing_page WHERE workspace_id = $1 AND name = $2',
    [workspaceId, name],
  );
}

/** Waits for a landing page, because it is registered shortly after the answer. */
async function registered(workspaceId: string, name: string) {
  await expect.poll(() => landingPages(workspaceId, name)).not.toEqual([]);
  return landingPages(workspaceId, name);
}

async function keyWithDefault(member: TestMember, defaultCampaignId: string): Promise<string> {
  const { apiKey } = await issueApiKey(fixture.credentials, member, { name: 'Default', defaultCampaignId });
  return apiKey;
}

describe('POST /api/v1/leads', () => {
  test('ignores an Authorization header', async () => {
    const { owner } = await fixture.createWorkspace();
    const row = await submit(owner.apiKey, person, { headers: { Authorization: 'Bearer nonsense' } });
    expect(row.user_id).toBe(owner.userId);
  });

  test('stores the phone number as sent, and its E.164 form if it is valid', async () => {
    const { owner } = await fixture.createWorkspace();
    expect(await submit(owner.apiKey, person)).toMatchObject({
      phone: personalData.phone,
      phone_e164: '+442079460958',
    });
    expect(await submit(owner.apiKey, { ...person, phone: 'ask Vogelsang' })).toMatchObject({
      phone: 'ask Vogelsang',
      phone_e164: null,
    });
  });
});

describe('the campaign of a lead', () => {
  test("is the landing page's campaign, else the API key's default, else the workspace's default (specification, 4.3)", async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, defaultCampaignId } = workspace;
    const mapped = await workspace.addCampaign('MAPPED');
    const ofKey = await workspace.addCampaign('OF-KEY');
    await workspace.mapLandingPage('mapped', mapped);
    await workspace.mapLandingPage('unmapped', null);
    const plainKey = owner.apiKey;
    const key = await keyWithDefault(owner, ofKey);

    const campaignOf = async (apiKey: string, lp_name?: string) =>
      (await submit(apiKey, { ...person, lp_name })).campaign_id;
    expect(await campaignOf(plainKey, 'mapped')).toBe(mapped);
    expect(await campaignOf(key, 'mapped')).toBe(mapped);
    for (const name of ['unmapped', 'unregistered', '', undefined]) {
      expect(await campaignOf(key, name)).toBe(ofKey);
      expect(await campaignOf(plainKey, name)).toBe(defaultCampaignId);
    }
    // The name of a landing page must match exactly.
    for (const name of ['Mapped', ' mapped', 'mapped ']) expect(await campaignOf(key, name)).toBe(ofKey);
  });

  test('is never a paused or archived campaign', async () => {
    const workspace = await fixture.createWorkspace();
    const { owner, defaultCampaignId } = workspace;
    const active = await workspace.addCampaign('ACTIVE');
    for (const status of ['paused', 'archived'] as const) {
      const stopped = await workspace.addCampaign(status, status);
      await workspace.mapLandingPage(`to-${status}`, stopped);
      const keyToActive = await keyWithDefault(owner, active);
      const keyToStopped = await keyWithDefault(owner, stopped);
      const body = { ...person, lp_name: `to-${status}` };
      expect((await submit(keyToActive, body)).campaign_id).toBe(active);
      expect((await submit(keyToStopped, body)).campaign_id).toBe(defaultCampaignId);
      expect((await submit(keyToStopped, person)).campaign_id).toBe(defaultCampaignId);
    }
  });

  test('follows a change of the mapping within 10 s', async () => {
    const workspace = await fixture.createWorkspace();
    const body = { ...person, lp_name: 'moving' };
    expect((await submit(workspace.owner.apiKey, body)).campaign_id).toBe(workspace.defaultCampaignId);
    await registered(workspace.id, 'moving');
    await workspace.mapLandingPage('moving', workspace.demoCampaignId);
    const changedAt = Date.now();
    // The duration of a request depends on the machine, so the time counts at which the last lead with the old route was sent.
    let oldSentMs = 0;
    const routed = async () => {
      const sentMs = Date.now() - changedAt;
      const { campaign_id: campaignId } = await submit(workspace.owner.apiKey, body);
      if (campaignId !== workspace.demoCampaignId) oldSentMs = sentMs;
      return campaignId;
    };
    await expect.poll(routed, { interval: 500 }).toBe(workspace.demoCampaignId);
    expect(oldSentMs).toBeLessThan(10_000);
  });

  test('does not depend on an unknown landing page, which concurrent leads register once, unmapped (specification, 2.3)', async () => {
    const workspace = await fixture.createWorkspace();
    const name = 'all-at-once';
    const rows = await Promise.all(
      Array.from({ length: 50 }, () => submit(workspace.owner.apiKey, { ...person, lp_name: name })),
    );
    expect(new Set(rows.map(({ id }) => id)).size).toBe(50);
    for (const { lp_name } of rows) expect(lp_name).toBe(name);
    expect(await registered(workspace.id, name)).toMatchObject([{ campaign_id: null }]);
    await submit(workspace.owner.apiKey, { ...person, lp_name: name });
    await sleep(100);
    expect(await landingPages(workspace.id, name)).toHaveLength(1);
  });

  test('does not depend on a landing page name that is too long to register, which the lead keeps', async () => {
    const workspace = await fixture.createWorkspace();
    const longest = '👍'.repeat(255);
    expect((await submit(workspace.owner.apiKey, { ...person, lp_name: `${longest}x` })).lp_name).toBe(
      `${longest}x`,
    );
    await submit(workspace.owner.apiKey, { ...person, lp_name: longest });
    await registered(workspace.id, longest);
    expect(await landingPages(workspace.id, `${longest}x`)).toEqual([]);
  });
});

describe('isolation of workspaces', () => {
  test('registers up to the cap of unknown landing pages for an API key and day, and holds further ones for approval', () =>
    onOneDay(async () => {
      const workspace = await fixture.createWorkspace();
      const origin = 'https://offer.example';
      const browserKey = async () => {
        const options = { name: 'Page', scope: 'intake', allowedOrigins: [origin] } as const;
        return (await issueApiKey(fixture.credentials, workspace.owner, options)).apiKey;
      };
      /** Returns whether the landing page of a lead waits for approval. The lead is stored in any case. */
      const isHeld = async (apiKey: string, name: string) => {
        const row = await submit(
          apiKey,
          { ...person, lp_name: name },
          { to: capped, headers: { Origin: origin } },
        );
        expect(row).toMatchObject({ lp_name: name, campaign_id: workspace.defaultCampaignId });
        return (await registered(workspace.id, name))[0]?.is_pending;
      };
      const [first, second] = [await browserKey(), await browserKey()];
      const held = [];
      for (const name of ['a', 'b', 'c', 'd', 'a', 'c']) held.push(await isHeld(first, name));
      expect(held).toEqual([false, false, true, true, false, true]);
      expect(await isHeld(second, 'e')).toBe(false);
      const { apiKey: secretKey } = workspace.owner;
      for (const name of ['f', 'g', 'h']) expect(await isHeld(secretKey, name)).toBe(name === 'h');
      // The cap applies again to the next day.
      await fixture.sql(
        `UPDATE landing_page SET created_at = created_at - interval '1 day' WHERE workspace_id = $1`,
        [workspace.id],
      );
      expect(await isHeld(first, 'i')).toBe(false);
      expect(await isHeld(secretKey, 'j')).toBe(false);
    }));

  test("ignores another workspace's landing page of the same name", async () => {
    const workspace = await fixture.createWorkspace();
    const other = await fixture.createWorkspace();
    await other.mapLandingPage('shared', other.demoCampaignId);
    const body = { ...person, lp_name: 'shared' };
    const row = await submit(workspace.owner.apiKey, body);
    expect(row).toMatchObject({ campaign_id: workspace.defaultCampaignId, user_id: workspace.owner.userId });
    expect(await registered(workspace.id, 'shared')).toMatchObject([{ campaign_id: null }]);
    expect(await landingPages(other.id, 'shared')).toMatchObject([{ campaign_id: other.demoCampaignId }]);
  });

  test('ignores campaigns, users and workspaces in the body', async () => {
    const workspace = await fixture.createWorkspace();
    const other = await fixture.createWorkspace();
    const row = await submit(workspace.owner.apiKey, {
      ...person,
      campaignCode: 'DEMO',
      campaignId: other.demoCampaignId,
      campaign_id: other.demoCampaignId,
      workspaceId: other.id,
      workspace_id: other.id,
      userId: other.owner.userId,
      user_id: other.owner.userId,
    });
    expect(row).toMatchObject({
      workspace_id: workspace.id,
      campaign_id: workspace.defaultCampaignId,
      user_id: workspace.owner.userId,
    });
    const [theirs] = await fixture.sql('SELECT count(*)::int AS count FROM lead WHERE workspace_id = $1', [
      other.id,
    ]);
    expect(theirs).toEqual({ count: 0 });
  });
});

describe('the ip of a lead', () => {
  const ipOf = async (to: RunningService, forwarded?: string | string[]) => {
    const { owner } = await fixture.createWorkspace();
    const headers = forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded };
    return (await submit(owner.apiKey, person, { to, headers })).ip;
  };

  test('is the address of the connection without a trusted proxy, whatever X-Forwarded-For says', async () => {
    expect(await ipOf(service)).toBe('127.0.0.1');
    for (const forwarded of ['203.0.113.7', 'nonsense', '']) {
      expect(await ipOf(service, forwarded)).toBe('127.0.0.1');
    }
  });

  const forwardedCases: [string, string | string[], string][] = [
    ['an address', '203.0.113.7', '203.0.113.7'],
    ['an IPv6 address', '2001:DB8::7', '2001:db8::7'],
    ['an IPv6 address with a zone', 'fe80::1%eth0', 'fe80::1'],
    ['several addresses, of which the last counts', '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    ['the addresses of trusted proxies, which are skipped', '203.0.113.7, 127.0.0.1', '203.0.113.7'],
    ['an entry of the client, which is ignored', 'nonsense, 203.0.113.7', '203.0.113.7'],
    ['several header lines', ['198.51.100.1', '203.0.113.7'], '203.0.113.7'],
    ['an IPv4 address within IPv6', '::ffff:203.0.113.7', '203.0.113.7'],
    ['an IPv4 address within IPv6, in hexadecimal', '::ffff:cb00:7107', '203.0.113.7'],
    ['garbage', 'nonsense', '127.0.0.1'],
    ['garbage at the end', '203.0.113.7, nonsense', '127.0.0.1'],
    ['an address with a port', '203.0.113.7:1234', '203.0.113.7'],
    ['an IPv6 address with a port', '[2001:db8::7]:1234', '2001:db8::7'],
    ['an IPv6 address in brackets', '[2001:db8::7]', '2001:db8::7'],
    ['an address with an invalid port', '203.0.113.7:x', '127.0.0.1'],
    ['an invalid address', '203.0.113.777', '127.0.0.1'],
    ['an address in octal', '0203.0.113.7', '127.0.0.1'],
    ['SQL', "'; DROP TABLE lead; --", '127.0.0.1'],
    ['nothing', '', '127.0.0.1'],
    ['bytes that are not ASCII', '\xff\xfe', '127.0.0.1'],
    ['8,000 digits', '9'.repeat(8_000), '127.0.0.1'],
  ];
  for (const [name, forwarded, expected] of forwardedCases) {
    test(`is ${expected} behind a trusted proxy that sends ${name}`, async () => {
      expect(await ipOf(proxied, forwarded)).toBe(expected);
    });
  }
});
