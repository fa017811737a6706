import type { TestMember } from '@leads/test-kit/fixture';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { finiteRoutesOf, exampleBody, exampleEntity, fillPath } from '@leads/test-kit/openapi-document';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';

// Without the worker, which changes deliveries at any time.
const crm = await startCrm({ CRM_DELIVERIES: 'false' });
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

await theirs.mapLandingPage('their-secret-page', secretCampaignId);
const [theirPage] = await fixture.sql('SELECT id FROM landing_page WHERE workspace_id = $1', [theirs.id]);
const theirPageId = String(theirPage?.['id']);
await fixture.sql(
  `INSERT INTO lead_change (lead_id, version, user_id, from_status, to_status, created_at)
   VALUES ($1, 2, $2, 'OnHold', 'Approved', now())`,
  [theirLeads[0]?.id, theirs.owner.userId],
);

const publisher = await mine.addMember('publisher');
const ownLead = mine.lead(publisher);
await fixture.leads.insert([ownLead]);
await mine.mapLandingPage('own-page', mine.demoCampaignId);
const [ownPage] = await fixture.sql('SELECT id FROM landing_page WHERE workspace_id = $1', [mine.id]);

/** Creates a webhook of a workspace with one delivery. @returns both ids. */
async function addWebhook({ owner }: typeof mine): Promise<[string, string]> {
  const post = (suffix: string, body?: object) =>
    service.send({
      method: 'POST',
      path: `/api/v1/webhooks${suffix}`,
      headers: { ...owner.headers },
      ...(body !== undefined && { body }),
    });
  const created = await post('', { url: 'https://crm.example.com/', events: ['lead.created'] });
  const { id } = created.json<{ webhook: { id: string } }>().webhook;
  const tested = await post(`/${id}/test`);
  return [id, tested.json<{ delivery: { id: string } }>().delivery.id];
}
/** Creates a postback of a member with one delivery. @returns both ids. */
async function addPostback({ headers }: TestMember): Promise<[string, string]> {
  const post = (suffix: string, body?: object) =>
    service.send({
      method: 'POST',
      path: `/api/v1/postbacks${suffix}`,
      headers: { ...headers },
      ...(body !== undefined && { body }),
    });
  const created = await post('', { url: 'https://tracker.example.com/', owner: 'user' });
  const { id } = created.json<{ postback: { id: string } }>().postback;
  const tested = await post(`/${id}/test`);
  return [id, tested.json<{ delivery: { id: string } }>().delivery.id];
}
/** Saves a view of a member. @returns its id. */
async function addView({ headers }: TestMember, shared: boolean): Promise<string> {
  const body = { name: 'View', shared };
  const answer = await service.send({ method: 'POST', path: '/api/v1/views', headers: { ...headers }, body });
  return answer.json<{ view: { id: string } }>().view.id;
}
const theirViews = [await addView(theirs.owner, true), await addView(theirs.owner, false)];
/** Adds a job that no instance runs, because its next step is far away. @returns its id. */
async function addJob({ id: workspaceId, owner }: typeof mine): Promise<string> {
  const [row] = await fixture.sql<{ id: string }>(
    `INSERT INTO lead_job (id, workspace_id, user_id, action, filters, status, next_step_at)
     VALUES (gen_random_uuid(), $1, $2, 'status', '{}', 'Approved', now() + interval '1 day') RETURNING id`,
    [workspaceId, owner.userId],
  );
  return row?.id ?? '';
}
const theirJob = await addJob(theirs);
const assignable = mine.lead(mine.owner);
await fixture.leads.insert([assignable]);
const ownAssignment = await service.send({
  method: 'POST',
  path: '/api/v1/order/leads/assignment',
  headers: { ...mine.owner.headers },
  body: { ids: [assignable.id], assigneeId: mine.owner.userId },
});
const { changeId } = ownAssignment.json<{ changeId: string }>();
const ownCampaignId = await mine.addCampaign('OWN');
await fixture.sql(
  `INSERT INTO publisher_payout (workspace_id, campaign_id, user_id, amount, currency)
   VALUES ($1, $2, $3, 7, 'EUR'), ($4, $5, $6, 8, 'EUR')`,
  [theirs.id, secretCampaignId, theirs.owner.userId, mine.id, ownCampaignId, publisher.userId],
);
/** Adds a payment to a member. @returns its id. */
async function addPayment({ id: workspaceId, owner }: typeof mine, to: TestMember): Promise<string> {
  const [row] = await fixture.sql<{ id: string }>(
    `INSERT INTO payment (id, workspace_id, number, user_id, created_by_id, from_time, to_time, currency, date, state, total, leads)
     VALUES (gen_random_uuid(), $1, 1, $2, $3, '2026-01-01', '2026-02-01', 'EUR', '2026-02-01', 'paid', 1, 1) RETURNING id`,
    [workspaceId, to.userId, owner.userId],
  );
  return row?.id ?? '';
}
const theirPayment = await addPayment(theirs, theirs.owner);
await fixture.sql(
  `INSERT INTO payment_lead (payment_id, lead_id, workspace_id, amount, state, version) VALUES ($1, $2, $3, 1, 'paid', 2)`,
  [theirPayment, theirLeads[0]?.id, theirs.id],
);
const theirWebhook = await addWebhook(theirs);
const theirPostback = await addPostback(theirs.owner);
const ownWebhook = await addWebhook(mine);
const ownPostbacks = [await addPostback(mine.owner), await addPostback(publisher)];
/** Own ids by the resource before the parameter of a path. */
const ownIds: Readonly<Record<string, readonly string[]>> = {
  leads: [ownLead.id],
  campaigns: [ownCampaignId],
  'landing-pages': [String(ownPage?.['id'])],
  webhooks: [ownWebhook[0]],
  postbacks: ownPostbacks.map(([id]) => id),
  deliveries: [ownWebhook, ...ownPostbacks].map(([, id]) => id),
  jobs: [await addJob(mine)],
  payments: [await addPayment(mine, publisher)],
  views: [await addView(mine.owner, false), await addView(publisher, false)],
};

/** Fields with free text, which a response repeats as the client sent it. */
const echoedFields = new Set(
  'name phone address email country region city street zipcode website description state code reason body text answerContains'.split(
    ' ',
  ),
);

/** Fields of bulk requests. The response repeats each value next to its result. */
const bulkFields = new Set(['ids']);

/** All ids and texts that identify data of the other workspace. */
const theirIdentifiers = [
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
  theirPageId,
  'their-secret-page',
  ...theirWebhook,
  ...theirPostback,
  ...theirViews,
  theirJob,
  theirPayment,
  ...theirLeads.map(({ id }) => id),
];

/** Returns every row of the other workspace that a route could change. */
async function theirRows() {
  const rows = await fixture.sql<{ row: string }>(
    `SELECT 'lead ' || to_jsonb(lead)::text AS row FROM lead WHERE workspace_id = $1
     UNION ALL SELECT 'lead_change ' || to_jsonb(lead_change)::text FROM lead_change
       WHERE lead_id IN (SELECT id FROM lead WHERE workspace_id = $1)
     UNION ALL SELECT 'lead_note ' || to_jsonb(lead_note)::text FROM lead_note
       WHERE lead_id IN (SELECT id FROM lead WHERE workspace_id = $1)
     UNION ALL SELECT 'campaign ' || to_jsonb(campaign)::text FROM campaign WHERE workspace_id = $1
     UNION ALL SELECT 'payout ' || to_jsonb(publisher_payout)::text FROM publisher_payout WHERE workspace_id = $1
     UNION ALL SELECT 'payment ' || to_jsonb(payment)::text FROM payment WHERE workspace_id = $1
     UNION ALL SELECT 'payment_lead ' || to_jsonb(payment_lead)::text FROM payment_lead WHERE workspace_id = $1
     UNION ALL SELECT 'landing_page ' || to_jsonb(landing_page)::text FROM landing_page WHERE workspace_id = $1
     UNION ALL SELECT 'endpoint ' || to_jsonb(endpoint)::text FROM delivery_endpoint AS endpoint WHERE workspace_id = $1
     UNION ALL SELECT 'endpoint_delivery ' || to_jsonb(delivery)::text FROM delivery WHERE workspace_id = $1
     UNION ALL SELECT 'view ' || to_jsonb(saved_view)::text FROM saved_view WHERE workspace_id = $1
     UNION ALL SELECT 'job ' || to_jsonb(lead_job)::text FROM lead_job WHERE workspace_id = $1
     ORDER BY row`,
    [theirs.id],
  );
  return rows.map(({ row }) => row);
}

/** Returns an example whose ids are of the own workspace, so that the request succeeds without another identifier. */
function withOwnIds(example: ReturnType<typeof exampleBody>): ReturnType<typeof exampleBody> {
  if (example === undefined) return undefined;
  const { parentId: _parentId, ...own } = example;
  if ('assigneeId' in own) own['assigneeId'] = mine.owner.userId;
  if ('assigneeIds' in own) own['assigneeIds'] = [mine.owner.userId];
  if ('changeId' in own) own['changeId'] = changeId;
  return own;
}

describe('workspace isolation', () => {
  for (const { method, path: route, operation } of finiteRoutesOf(service.document)) {
    for (const member of [mine.owner, publisher]) {
      test(`makes ${method} ${route} by role ${member.role} return and change nothing of another workspace`, async () => {
        expect(theirCursor).not.toBe('');
        // An earlier test has deleted it.
        await fixture.sql('UPDATE delivery_endpoint SET deleted_at = NULL WHERE workspace_id = $1', [
          mine.id,
        ]);
        const before = await theirRows();
        expect(before.map((row) => row.split(' ', 1)[0])).toEqual(
          'campaign campaign campaign campaign endpoint endpoint endpoint_delivery endpoint_delivery job landing_page lead lead lead lead_change payment payment_lead payout view view'.split(
            ' ',
          ),
        );
        const example = withOwnIds(exampleBody(operation));
        const parameters = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
        const statuses = new Set<number>();
        const [, resource] = /([\w-]+)\/\{/.exec(route) ?? [];
        const ownTargets = resource === undefined ? [] : ownIds[resource];
        if (ownTargets === undefined) throw new Error(`ownIds has no id for ${route}`);
        // Without its identifier, a request is equal for several identifiers. Each request is sent once.
        const sentBefore = new Set<string>();
        for (const identifier of theirIdentifiers) {
          // Every place where a route takes a value: path, query, each field of the body, and unknown fields.
          const ofUser = route.replace('{userId}', publisher.userId);
          const targets =
            resource === undefined
              ? [route]
              : [
                  ...[identifier, ...ownTargets].map((id) => fillPath(ofUser, id)),
                  ...(ofUser === route
                    ? []
                    : [fillPath(route.replace('{userId}', identifier), ownCampaignId)]),
                ];
          const queries = ['', ...parameters.map(({ name }) => `?${name}=${encodeURIComponent(identifier)}`)];
          const fields = Object.entries(example ?? {}).filter(([field]) => !echoedFields.has(field));
          const bodies: { text: string | undefined; echo?: string | undefined }[] = [
            { text: example === undefined ? exampleEntity(operation)?.text : JSON.stringify(example) },
            // Each field is also sent alone. Otherwise an error in the rest of the example could hide a leak.
            ...fields.flatMap(([field, value]) => {
              const named = { [field]: Array.isArray(value) ? [identifier] : identifier };
              const echo = bulkFields.has(field) ? identifier : undefined;
              return [named, { ...example, ...named }].map((body) => ({ text: JSON.stringify(body), echo }));
            }),
          ];
          if (example !== undefined) {
            const hints = {
              workspaceId: identifier,
              campaignId: identifier,
              userId: identifier,
              id: identifier,
              cursor: identifier,
            };
            bodies.push({ text: JSON.stringify({ ...example, ...hints }) });
            if ('leadId' in example)
              bodies.push({ text: JSON.stringify({ ...example, leadId: ownLead.id }) });
          }
          const type = exampleEntity(operation)?.type;
          const headers = { ...member.headers, ...(type !== undefined && { 'Content-Type': type }) };
          const [usual = { text: undefined }] = bodies;
          const sent = [
            ...bodies.map((body) => ({ search: '', body })),
            ...queries.slice(1).map((search) => ({ search, body: usual })),
          ];
          const requests = targets
            .flatMap((target) => sent.map(({ search, body }) => ({ path: target + search, body })))
            .filter(({ path: target, body: { text = '' } }) => {
              const request = `${target} ${text}`;
              return !sentBefore.has(request) && sentBefore.add(request);
            });
          await Promise.all(
            requests.map(async ({ path: target, body: { text, echo } }) => {
              const send = () => service.send({ method, path: target, headers, body: text });
              let answer = await send();
              // A publisher may have two exports and two imports at a time.
              while (answer.status === 429) answer = await send();
              statuses.add(answer.status);
              const response = answer.text + JSON.stringify(answer.headers);
              expect(theirIdentifiers.filter((each) => each !== echo && response.includes(each))).toEqual([]);
            }),
          );
        }
        const allowed = [200, 400, 404, 409, ...(member === publisher ? [403] : [])];
        expect(allowed).toEqual(expect.arrayContaining([...statuses]));
        // Some requests reached the caller's own data or got 403. Without them, the test would prove nothing.
        const reached = [200, 409, ...(member === publisher ? [403] : [])];
        expect(reached.some((status) => statuses.has(status))).toBe(true);
        expect(await theirRows()).toEqual(before);
      });
    }
  }

  test('leaves no row of one workspace that refers to another', async () => {
    const strays = await fixture.sql(
      `SELECT id FROM lead WHERE (workspace_id = $1) <> (campaign_id IN (SELECT id FROM campaign WHERE workspace_id = $1))
         OR (workspace_id = $1 AND user_id NOT IN ($2, $3))
       UNION ALL SELECT lead_id FROM lead_change JOIN lead ON lead.id = lead_id
         WHERE (workspace_id = $1) <> (lead_change.user_id IN ($2, $3))`,
      [mine.id, mine.owner.userId, publisher.userId],
    );
    expect(strays).toEqual([]);
  });
});

test('spec 4.1: a campaign code of another workspace is rejected as unknown, and a shared code means the own campaign', async () => {
  const create = (campaignCode: string, headers: object) =>
    service.send({
      method: 'POST',
      path,
      headers: { ...headers },
      body: { campaignCode, name: personalData.name, phone: personalData.phone },
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

test('spec 4.2: the list of a workspace contains no lead of another', async () => {
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
