import { canary } from '@leads/local-stack/testing/canaries';
import { exampleBody, guardedRoutesOf } from '@leads/local-stack/testing/openapi-document';
import { afterAll, expect, test } from 'vitest';
import { startCrm } from './crm.ts';

const crm = await startCrm();
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;

const mine = await fixture.createWorkspace();
const theirs = await fixture.createWorkspace();
const secretCode = 'THEIR-SECRET-CODE';
const secretCampaignId = await theirs.addCampaign(secretCode);
await mine.addCampaign('PAUSED-HERE', 'paused');
await theirs.addCampaign('PAUSED-HERE');
const theirLeads = [1, 2, 3].map((second) =>
  theirs.lead(theirs.owner, { campaignId: secretCampaignId, createdAt: new Date(second * 1000) }),
);
await fixture.leads.insert(theirLeads);
const path = '/api/v1/order/leads';
const list = await service.send({ path: `${path}?limit=1`, headers: { ...theirs.owner.headers } });
const theirCursor = /cursor=([\w-]+)/.exec(String(list.headers['link']))?.[1] ?? '';

const shown = new Set(['name', 'phone', 'address', 'country', 'region']);

/** Everything by which something of the other workspace can be named or told. */
const theirMarks = [
  theirs.id,
  theirs.slug,
  theirs.defaultCampaignId,
  theirs.demoCampaignId,
  secretCampaignId,
  secretCode,
  theirs.owner.userId,
  theirs.owner.email,
  theirs.owner.apiKeyId,
  theirs.owner.accessTokenId,
  theirCursor,
  ...theirLeads.map(({ id }) => id),
];

test('no route shows or changes anything of another workspace, whatever of it a caller names', async () => {
  expect(theirCursor).not.toBe('');
  const before = await fixture.sql('SELECT * FROM lead WHERE workspace_id = $1 ORDER BY id', [theirs.id]);
  expect(before).toHaveLength(3);
  const { owner } = mine;
  for (const { method, path: route, operation } of guardedRoutesOf(service.document)) {
    for (const mark of theirMarks) {
      // Wherever a route takes anything: in its path, its query, each field of its body, and fields it does not know.
      const target = route.replace(/\{[^}]+\}/g, mark);
      const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
      const queries = ['', ...parameters.map(({ name }) => `?${name}=${encodeURIComponent(mark)}`)];
      const example = exampleBody(operation);
      // Not in the fields that a lead shows: what a caller writes there comes back to it.
      const fields = Object.keys(example ?? {}).filter((field) => !shown.has(field));
      const bodies = [
        ...fields.map((field) => Object.assign({}, example, { [field]: mark })),
        example && { ...example, workspaceId: mark, campaignId: mark, userId: mark, id: mark, cursor: mark },
      ];
      for (const search of queries) {
        for (const body of bodies) {
          const headers = { ...owner.headers };
          const answer = await service.send({ method, path: target + search, headers, body });
          expect([200, 400, 404]).toContain(answer.status);
          const told = answer.text + JSON.stringify(answer.headers);
          for (const each of theirMarks) expect(told).not.toContain(each);
        }
      }
    }
  }
  expect(await fixture.sql('SELECT * FROM lead WHERE workspace_id = $1 ORDER BY id', [theirs.id])).toEqual(
    before,
  );
  const strays = await fixture.sql(
    `SELECT id FROM lead WHERE (workspace_id = $1) <> (campaign_id IN (SELECT id FROM campaign WHERE workspace_id = $1))
       OR (workspace_id = $1 AND user_id <> $2)`,
    [mine.id, owner.userId],
  );
  expect(strays).toEqual([]);
});

test('spec 4.1: a campaign code of another workspace is unknown, and the own of the same code is meant', async () => {
  const create = (campaignCode: string, headers: object) =>
    service.send({
      method: 'POST',
      path,
      headers: { ...headers },
      body: { campaignCode, name: canary.name, phone: canary.phone },
    });
  const unknown = { success: false, error: 'validation', message: 'Unknown or inactive campaign' };
  for (const code of [secretCode, 'PAUSED-HERE', secretCampaignId]) {
    const answer = await create(code, mine.owner.headers);
    expect([answer.status, answer.json()]).toEqual([400, unknown]);
  }
  for (const workspace of [mine, theirs]) {
    const answer = await create('DEMO', workspace.owner.headers);
    expect(answer.json<{ lead: object }>().lead).toMatchObject({ campaignId: workspace.demoCampaignId });
  }
});

test('spec 4.2: the list of one workspace holds nothing of the other', async () => {
  const ids = theirLeads.map(({ id }) => id);
  for (const role of ['manager', 'publisher'] as const) {
    const member = await mine.addMember(role);
    const answer = await service.send({ path: `${path}?limit=1000`, headers: { ...member.headers } });
    const listed = answer.json<{ id: string; userId: string }[]>();
    for (const { id, userId } of listed) {
      expect(ids).not.toContain(id);
      expect(userId).not.toBe(theirs.owner.userId);
    }
  }
});
