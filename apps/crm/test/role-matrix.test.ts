import { randomUUID } from 'node:crypto';
import {
  type MemberPermission,
  type MemberRole,
  rolesWith,
  type SingleScope,
  singleScopes,
} from '@leads/core/credential';
import type { TestMember } from '@leads/test-kit/fixture';
import type { Answer } from '@leads/test-kit/http-client';
import { personalData } from '@leads/test-kit/log-check/confidential';
import { guardedRoutesOf } from '@leads/test-kit/openapi-document';
import { afterAll, describe, expect, test } from 'vitest';
import { startCrm } from './crm.ts';
import { forbidden, notFound } from './leads-api.ts';
import { signInAs, Visitor } from './visitor.ts';
import { signedInRoutesOf, websiteRoutesOf } from './website-routes.ts';

// Without the worker, which changes deliveries at any time.
const crm = await startCrm({ CRM_DELIVERIES: 'false' });
afterAll(() => crm[Symbol.asyncDispose]());
const { service, fixture } = crm;
const workspace = await fixture.createWorkspace();

/** A user with credentials and a session. */
interface Person {
  readonly member: TestMember;
  readonly visitor: Visitor;
}
const people: Readonly<Record<MemberRole, Person>> = {
  owner: await signInAs(service, workspace, 'owner'),
  manager: await signInAs(service, workspace, 'manager'),
  publisher: await signInAs(service, workspace, 'publisher'),
};
const anotherUser = await signInAs(service, workspace, 'publisher');
const forIntake = await workspace.addMember('owner', { scope: 'intake' });
const withoutWorkspace = await signInAs(service, workspace, 'owner');

/** The request of a row. Each test creates a new one, so that no test affects the next. */
interface RequestCase {
  /** The path below the prefix of an entry of {@link apis}. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text that the answer must not contain if the request is rejected or filtered. */
  readonly hidden?: string;
}

/** The expected status code of each role. */
type Roles = Readonly<Record<MemberRole, number>>;

interface Row extends Roles {
  /** @param of the owner of the leads or of other personal resources in the request. */
  readonly request: (of: Person) => Promise<RequestCase> | RequestCase;
  /** The expected status codes for a resource of another user, if resources have an owner. */
  readonly forOtherUser?: Roles;
  /** The expected status code for a signed-in user without a workspace. If absent, 403. */
  readonly withoutWorkspace?: number;
  /** Whether a method other than GET changes nothing. */
  readonly isRead?: boolean;
}
type Matrix = Readonly<Record<string, Row>>;

async function leadOf({ member }: Person): Promise<string> {
  const lead = workspace.lead(member);
  await fixture.leads.insert([lead]);
  return lead.id;
}
async function landingPage(): Promise<string> {
  const name = randomUUID();
  await workspace.mapLandingPage(name, null);
  const [row] = await fixture.sql<{ id: string }>('SELECT id FROM landing_page WHERE name = $1', [name]);
  return row?.id ?? '';
}
const campaign = () => workspace.addCampaign(randomUUID());
/** Sets the payout of the publisher in a new campaign. @returns its path. */
async function campaignPayout(): Promise<string> {
  const path = `/campaigns/${await campaign()}/payouts/${people.publisher.member.userId}`;
  await people.owner.visitor.send('PUT', `/console${path}`, { amount: '1', currency: 'EUR' });
  return path;
}
async function campaignWithLink(): Promise<string> {
  const id = await campaign();
  await people.owner.visitor.send('POST', `/console/campaigns/${id}/integration-link`);
  return id;
}
async function webhook(): Promise<string> {
  const answer = await people.owner.visitor.send('POST', '/console/webhooks', newWebhook);
  const { id } = answer.json<{ webhook: { id: string } }>().webhook;
  // Leaves room for the next webhook.
  await fixture.sql('UPDATE delivery_endpoint SET deleted_at = now() WHERE id <> $1', [id]);
  return id;
}
async function webhookDelivery(): Promise<string> {
  const answer = await people.owner.visitor.send('POST', `/console/webhooks/${await webhook()}/test`);
  return answer.json<{ delivery: { id: string } }>().delivery.id;
}
/** The postback is of the workspace for owners and managers, and of the user for publishers. */
const newPostback = { url: 'https://tracker.example.com/postback?cid={s1}' };
async function postback({ visitor }: Person): Promise<string> {
  const answer = await visitor.send('POST', '/console/postbacks', newPostback);
  const { id } = answer.json<{ postback: { id: string } }>().postback;
  // Leaves room for the next postback.
  await fixture.sql('UPDATE delivery_endpoint SET deleted_at = now() WHERE id <> $1', [id]);
  return id;
}
async function delivery(of: Person): Promise<string> {
  const answer = await of.visitor.send('POST', `/console/postbacks/${await postback(of)}/test`);
  return answer.json<{ delivery: { id: string } }>().delivery.id;
}
/** A job that no instance runs, because its next step is far away. */
async function job(action: 'status' | 'assign' = 'status'): Promise<string> {
  const id = randomUUID();
  await fixture.sql('DELETE FROM lead_job');
  await fixture.sql(
    `INSERT INTO lead_job (id, workspace_id, user_id, action, filters, status, next_step_at)
     VALUES ($1, $2, $3, $4, '{}', $5, now() + interval '1 day')`,
    [id, workspace.id, people.owner.member.userId, action, action === 'status' ? 'Approved' : null],
  );
  return id;
}
/** A job that has changed a lead. Its undo waits for a job that no instance runs. */
async function doneJob(action: 'status' | 'assign' = 'status'): Promise<string> {
  const [waiting, id, leadId] = [await job(action), randomUUID(), await leadOf(people.owner)];
  await fixture.sql(
    `INSERT INTO lead_job (id, workspace_id, user_id, action, filters, status, state, finished_at)
     SELECT $1, workspace_id, user_id, action, filters, status, 'done', now() FROM lead_job WHERE id = $2`,
    [id, waiting],
  );
  await fixture.sql(
    `INSERT INTO lead_change (lead_id, version, user_id, fields, bulk_id, created_at) VALUES ($1, 2, $2, '{"assigneeId":{}}', $3, now())`,
    [leadId, people.owner.member.userId, id],
  );
  return id;
}
/** An assignment of a lead. @returns the id by which it can be undone. */
async function assignment(of: Person): Promise<string> {
  const body = { ids: [await leadOf(of)], assigneeId: people.manager.member.userId };
  const answer = await people.owner.visitor.send('POST', `/console${leads}/assignment`, body);
  return answer.json<{ changeId: string }>().changeId;
}
/** A payment to the publisher that is paid, without leads. */
async function payment(to = people.publisher): Promise<string> {
  const id = randomUUID();
  await fixture.sql(
    `INSERT INTO payment (id, workspace_id, number, user_id, created_by_id, from_time, to_time, currency, date, state)
     SELECT $1, $2, coalesce(max(number), 0) + 1, $3, $4, '2026-01-01', '2026-02-01', 'EUR', '2026-02-01', 'paid'
     FROM payment WHERE workspace_id = $2`,
    [id, workspace.id, to.member.userId, people.owner.member.userId],
  );
  return id;
}
/** The view is shared for owners and managers, and own for publishers. */
async function view({ visitor, member }: Person): Promise<string> {
  const body = { name: 'One', shared: member.role !== 'publisher' };
  const { id } = (await visitor.send('POST', '/console/views', body)).json<{ view: { id: string } }>().view;
  // Leaves room for the next view.
  await fixture.sql('DELETE FROM saved_view WHERE id <> $1', [id]);
  return id;
}
async function createCredential({ visitor }: Person, path: '/api-keys' | '/access-tokens'): Promise<string> {
  const answer = await visitor.send('POST', `/console${path}`, { name: 'One' });
  return answer.json<{ record: { id: string } }>().record.id;
}
async function sessionOf({ member }: Person): Promise<string> {
  const browser = new Visitor(service);
  await browser.signIn(member.email);
  return (await browser.get('/me')).json<{ sessionId: string }>().sessionId;
}

const leads = '/order/leads';
const newWebhook = { url: 'https://crm.example.com/hook', events: ['lead.created'] };
const everyone = { owner: 200, manager: 200, publisher: 200 } as const;
const managers = { owner: 200, manager: 200, publisher: 403 } as const;
const owners = { owner: 200, manager: 403, publisher: 403 } as const;
const hidden = { owner: 404, manager: 404, publisher: 404 } as const;

/** The routes that both the public API and the website have. */
const common: Matrix = {
  'GET /webhooks': { ...managers, request: () => ({ path: '/webhooks' }) },
  'POST /webhooks': { ...managers, request: () => ({ path: '/webhooks', body: newWebhook }) },
  'POST /webhooks/preview': {
    ...managers,
    isRead: true,
    forOtherUser: managers,
    request: async (of) => ({
      path: '/webhooks/preview',
      body: { url: newWebhook.url, leadId: await leadOf(of) },
    }),
  },
  'GET /webhooks/{id}': { ...managers, request: async () => ({ path: `/webhooks/${await webhook()}` }) },
  'PATCH /webhooks/{id}': {
    ...managers,
    request: async () => ({ path: `/webhooks/${await webhook()}`, body: { enabled: false } }),
  },
  'DELETE /webhooks/{id}': { ...managers, request: async () => ({ path: `/webhooks/${await webhook()}` }) },
  'POST /webhooks/{id}/rotate-secret': {
    ...managers,
    request: async () => ({ path: `/webhooks/${await webhook()}/rotate-secret`, body: {} }),
  },
  'POST /webhooks/{id}/test': {
    ...managers,
    request: async () => ({ path: `/webhooks/${await webhook()}/test` }),
  },
  'GET /webhooks/{id}/deliveries': {
    ...managers,
    request: async () => ({ path: `/webhooks/${await webhook()}/deliveries` }),
  },
  'POST /webhooks/{id}/recover': {
    ...managers,
    request: async () => {
      const id = await webhook();
      await people.owner.visitor.send('POST', `/console/webhooks/${id}/test`);
      await fixture.sql(
        `UPDATE delivery SET state = 'failed', next_attempt_at = NULL WHERE endpoint_id = $1`,
        [id],
      );
      return { path: `/webhooks/${id}/recover`, body: { since: '2026-01-01T00:00:00Z' } };
    },
  },
  'GET /postbacks': { ...everyone, request: () => ({ path: '/postbacks' }) },
  'POST /postbacks': {
    ...everyone,
    request: async () => {
      await fixture.sql('UPDATE delivery_endpoint SET deleted_at = now()');
      return { path: '/postbacks', body: newPostback };
    },
  },
  'GET /postbacks/presets': { ...everyone, request: () => ({ path: '/postbacks/presets' }) },
  'POST /postbacks/preview': {
    ...everyone,
    isRead: true,
    forOtherUser: { owner: 200, manager: 200, publisher: 404 },
    request: async (of) => ({
      path: '/postbacks/preview',
      body: { url: newPostback.url, leadId: await leadOf(of) },
    }),
  },
  'GET /postbacks/{id}': {
    ...everyone,
    forOtherUser: hidden,
    request: async (of) => ({ path: `/postbacks/${await postback(of)}` }),
  },
  'PATCH /postbacks/{id}': {
    ...everyone,
    forOtherUser: hidden,
    request: async (of) => ({ path: `/postbacks/${await postback(of)}`, body: { enabled: false } }),
  },
  'DELETE /postbacks/{id}': {
    ...everyone,
    forOtherUser: hidden,
    request: async (of) => ({ path: `/postbacks/${await postback(of)}` }),
  },
  'POST /postbacks/{id}/test': {
    ...everyone,
    forOtherUser: hidden,
    request: async (of) => ({ path: `/postbacks/${await postback(of)}/test` }),
  },
  'GET /postbacks/{id}/deliveries': {
    ...everyone,
    forOtherUser: hidden,
    request: async (of) => ({ path: `/postbacks/${await postback(of)}/deliveries` }),
  },
  'POST /postbacks/{id}/recover': {
    ...everyone,
    forOtherUser: hidden,
    request: async (of) => {
      const id = await postback(of);
      await of.visitor.send('POST', `/console/postbacks/${id}/test`);
      await fixture.sql(
        `UPDATE delivery SET state = 'failed', next_attempt_at = NULL WHERE endpoint_id = $1`,
        [id],
      );
      return { path: `/postbacks/${id}/recover`, body: { since: '2026-01-01T00:00:00Z' } };
    },
  },
  'GET /deliveries/{id}': {
    ...everyone,
    forOtherUser: hidden,
    request: async (of) => ({ path: `/deliveries/${await delivery(of)}` }),
  },
  'GET /deliveries/{id} of a webhook': {
    ...managers,
    publisher: 404,
    request: async () => ({ path: `/deliveries/${await webhookDelivery()}` }),
  },
  'POST /deliveries/{id}/resend': {
    ...everyone,
    forOtherUser: hidden,
    request: async (of) => ({ path: `/deliveries/${await delivery(of)}/resend` }),
  },
  'POST /deliveries/{id}/resend of a webhook': {
    ...managers,
    publisher: 404,
    request: async () => ({ path: `/deliveries/${await webhookDelivery()}/resend` }),
  },
  'GET /audit': { ...owners, request: () => ({ path: '/audit' }) },
  'POST /order/leads': {
    ...everyone,
    request: () => ({
      path: leads,
      body: { campaignCode: 'DEMO', name: personalData.name, phone: personalData.phone },
    }),
  },
  'GET /order/leads': {
    ...everyone,
    forOtherUser: everyone,
    request: async (of) => ({ path: `${leads}?limit=1000`, hidden: await leadOf(of) }),
  },
  'GET /order/leads as CSV': {
    ...everyone,
    forOtherUser: everyone,
    request: async (of) => ({ path: leads, headers: { Accept: 'text/csv' }, hidden: await leadOf(of) }),
  },
  'POST /order/leads/export': {
    ...everyone,
    forOtherUser: everyone,
    isRead: true,
    request: async (of) => {
      const id = await leadOf(of);
      return { path: `${leads}/export`, body: { ids: [id] }, hidden: id };
    },
  },
  'GET /order/leads as NDJSON': {
    ...everyone,
    forOtherUser: everyone,
    request: async (of) => ({
      path: leads,
      headers: { Accept: 'application/x-ndjson' },
      hidden: await leadOf(of),
    }),
  },
  'GET /order/leads/{id}': {
    ...everyone,
    forOtherUser: { ...everyone, publisher: 404 },
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}` }),
  },
  'PATCH /order/leads/{id}': {
    ...everyone,
    forOtherUser: { ...everyone, publisher: 404 },
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}`, body: { city: 'Paris' } }),
  },
  'PATCH /order/leads/{id} status': {
    ...managers,
    forOtherUser: { ...managers, publisher: 404 },
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}`, body: { status: 'Approved' } }),
  },
  'PATCH /order/leads/{id} out of Paid': {
    ...owners,
    forOtherUser: { ...owners, publisher: 404 },
    request: async (of) => {
      const id = await leadOf(of);
      await fixture.sql(`UPDATE lead SET status = 'Paid' WHERE id = $1`, [id]);
      return { path: `${leads}/${id}`, body: { status: 'Approved', reason: 'Bounced' } };
    },
  },
  'PATCH /order/leads/{id} hold': {
    ...managers,
    forOtherUser: { ...managers, publisher: 404 },
    request: async (of) => ({
      path: `${leads}/${await leadOf(of)}`,
      body: { hold: true, reason: 'Waiting for a proof' },
    }),
  },
  'PATCH /order/leads/{id} payout': {
    ...managers,
    forOtherUser: { ...managers, publisher: 404 },
    request: async (of) => ({
      path: `${leads}/${await leadOf(of)}`,
      body: { payout: { amount: '1', currency: 'EUR' }, reason: 'Agreed' },
    }),
  },
  'PATCH /order/leads/{id} assignee': {
    ...managers,
    forOtherUser: { ...managers, publisher: 404 },
    request: async (of) => ({
      path: `${leads}/${await leadOf(of)}`,
      body: { assigneeId: people.manager.member.userId, callbackAt: '2026-01-31T09:30:00Z' },
    }),
  },
  'POST /order/leads/assignment': {
    ...managers,
    forOtherUser: managers,
    request: async (of) => ({
      path: `${leads}/assignment`,
      body: { ids: [await leadOf(of)], assigneeId: people.manager.member.userId },
    }),
  },
  'POST /order/leads/assignment/undo': {
    ...managers,
    forOtherUser: managers,
    request: async (of) => ({ path: `${leads}/assignment/undo`, body: { changeId: await assignment(of) } }),
  },
  'GET /order/leads of an assignee': {
    ...managers,
    request: () => ({ path: `${leads}?assignee=me&callbackDue=true` }),
  },
  'GET /order/leads/{id}/notes': {
    ...managers,
    forOtherUser: managers,
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}/notes` }),
  },
  'POST /order/leads/{id}/notes': {
    ...managers,
    forOtherUser: managers,
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}/notes`, body: { text: 'Call again' } }),
  },
  'GET /order/leads/{id}/history': {
    ...everyone,
    forOtherUser: { ...everyone, publisher: 404 },
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}/history` }),
  },
  'GET /order/leads/{id}/deliveries': {
    ...everyone,
    forOtherUser: { ...everyone, publisher: 404 },
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}/deliveries` }),
  },
  'POST /order/leads/status': {
    ...managers,
    forOtherUser: managers,
    request: async (of) => ({
      path: `${leads}/status`,
      body: { ids: [await leadOf(of)], status: 'Approved' },
    }),
  },
  'POST /jobs': {
    ...managers,
    request: async () => {
      // The new job waits for this one, so that it changes nothing.
      await job();
      const filters = { status: 'OnHold' };
      return { path: '/jobs', body: { action: 'status', status: 'Approved', filters } };
    },
  },
  'POST /jobs assign': {
    ...managers,
    request: async () => {
      await job();
      return { path: '/jobs', body: { action: 'assign', assigneeId: '', filters: {} } };
    },
  },
  'DELETE /jobs/{id} assign': {
    ...managers,
    request: async () => ({ path: `/jobs/${await job('assign')}` }),
  },
  'GET /jobs': { ...managers, request: () => ({ path: '/jobs' }) },
  'GET /jobs/{id}': { ...managers, request: async () => ({ path: `/jobs/${await job()}` }) },
  'DELETE /jobs/{id}': { ...managers, request: async () => ({ path: `/jobs/${await job()}` }) },
  'POST /jobs/{id}/undo': { ...managers, request: async () => ({ path: `/jobs/${await doneJob()}/undo` }) },
  'POST /jobs/{id}/undo assign': {
    ...managers,
    request: async () => ({ path: `/jobs/${await doneJob('assign')}/undo` }),
  },
  'GET /views': { ...everyone, request: () => ({ path: '/views' }) },
  'POST /views': { ...everyone, request: () => ({ path: '/views', body: { name: 'One' } }) },
  'POST /views shared': {
    ...managers,
    request: () => ({ path: '/views', body: { name: 'One', shared: true } }),
  },
  'PATCH /views/{id}': {
    ...everyone,
    forOtherUser: hidden,
    request: async (of) => ({ path: `/views/${await view(of)}`, body: { name: 'Two' } }),
  },
  'DELETE /views/{id}': {
    ...everyone,
    forOtherUser: hidden,
    request: async (of) => ({ path: `/views/${await view(of)}` }),
  },
  'GET /status-aliases': { ...managers, request: () => ({ path: '/status-aliases' }) },
  'PUT /status-aliases': {
    ...managers,
    request: () => ({
      path: '/status-aliases',
      body: { aliases: [{ alias: randomUUID(), status: 'Paid' }] },
    }),
  },
  'POST /order/leads/status/import': {
    ...managers,
    forOtherUser: managers,
    request: async (of) => ({
      path: `${leads}/status/import`,
      headers: { 'Content-Type': 'text/csv' },
      body: `id,status\r\n${await leadOf(of)},Approved\r\n`,
    }),
  },
  'POST /order/leads/import': {
    ...everyone,
    request: () => ({
      path: `${leads}/import`,
      headers: { 'Content-Type': 'text/csv' },
      body: `campaignCode,name,phone\r\nDEMO,${personalData.name},${personalData.phone}\r\n`,
    }),
  },
  'GET /campaigns': { ...everyone, request: () => ({ path: '/campaigns' }) },
  'POST /campaigns': {
    ...managers,
    request: () => ({ path: '/campaigns', body: { code: randomUUID(), name: 'A campaign' } }),
  },
  'PATCH /campaigns/{id}': {
    ...managers,
    request: async () => ({ path: `/campaigns/${await campaign()}`, body: { name: 'Another name' } }),
  },
  'GET /campaigns/{id}/payouts': {
    ...managers,
    request: async () => ({ path: `/campaigns/${await campaign()}/payouts` }),
  },
  'PUT /campaigns/{id}/payouts/{userId}': {
    ...managers,
    request: async () => ({
      path: `/campaigns/${await campaign()}/payouts/${people.publisher.member.userId}`,
      body: { amount: '1', currency: 'EUR' },
    }),
  },
  'DELETE /campaigns/{id}/payouts/{userId}': {
    ...managers,
    request: async () => ({ path: await campaignPayout() }),
  },
  'GET /statements': { ...everyone, request: () => ({ path: '/statements?from=2026-01-01&to=2026-12-31' }) },
  // Roles that may pay get 409, because the publisher has no approved lead.
  'POST /payments': {
    owner: 409,
    manager: 409,
    publisher: 403,
    request: () => ({
      path: '/payments',
      body: {
        userId: people.publisher.member.userId,
        from: '2026-01-01',
        to: '2026-01-31',
        currency: 'EUR',
        date: '2026-02-01',
      },
    }),
  },
  'GET /payments': {
    ...everyone,
    forOtherUser: everyone,
    request: async (of) => ({ path: '/payments', hidden: await payment(of) }),
  },
  'GET /payments/{id}': {
    ...everyone,
    forOtherUser: { ...everyone, publisher: 404 },
    request: async (of) => {
      const id = await payment(of);
      return { path: `/payments/${id}`, hidden: id };
    },
  },
  'POST /payments/{id}/cancel': {
    ...owners,
    request: async () => ({ path: `/payments/${await payment()}/cancel`, body: { reason: 'Mistake' } }),
  },
  'GET /landing-pages': { ...everyone, request: () => ({ path: '/landing-pages' }) },
  'POST /landing-pages': {
    ...managers,
    request: () => ({ path: '/landing-pages', body: { name: randomUUID() } }),
  },
  'POST /landing-pages/{id}/dismissal': {
    ...managers,
    request: async () => {
      const id = await landingPage();
      await fixture.sql('UPDATE landing_page SET pending_since = now() WHERE id = $1', [id]);
      return { path: `/landing-pages/${id}/dismissal`, body: { dismissed: true } };
    },
  },
  'PATCH /landing-pages/{id}': {
    ...managers,
    request: async () => ({ path: `/landing-pages/${await landingPage()}`, body: { campaignCode: 'DEMO' } }),
  },
};

const forIntegrators: Matrix = {
  ...common,
  // An id of another stream is answered after the permission check, with a response that ends.
  'GET /events': {
    owner: 410,
    manager: 410,
    publisher: 410,
    request: () => ({ path: '/events?since=1-1' }),
  },
};

/** The scopes that a key needs for each row of {@link forIntegrators}. The first is the scope of the route. */
const neededScopes: Readonly<Record<string, readonly SingleScope[]>> = {
  'GET /webhooks': ['admin'],
  'POST /webhooks': ['admin'],
  'POST /webhooks/preview': ['admin', 'leads:read'],
  'GET /webhooks/{id}': ['admin'],
  'PATCH /webhooks/{id}': ['admin'],
  'DELETE /webhooks/{id}': ['admin'],
  'POST /webhooks/{id}/rotate-secret': ['admin'],
  'POST /webhooks/{id}/test': ['admin'],
  'GET /webhooks/{id}/deliveries': ['admin'],
  'POST /webhooks/{id}/recover': ['admin'],
  'GET /postbacks': ['admin'],
  'POST /postbacks': ['admin'],
  'GET /postbacks/presets': ['admin'],
  'POST /postbacks/preview': ['admin', 'leads:read'],
  'GET /postbacks/{id}': ['admin'],
  'PATCH /postbacks/{id}': ['admin'],
  'DELETE /postbacks/{id}': ['admin'],
  'POST /postbacks/{id}/test': ['admin'],
  'GET /postbacks/{id}/deliveries': ['admin'],
  'POST /postbacks/{id}/recover': ['admin'],
  'GET /deliveries/{id}': ['admin'],
  'GET /deliveries/{id} of a webhook': ['admin'],
  'POST /deliveries/{id}/resend': ['admin'],
  'POST /deliveries/{id}/resend of a webhook': ['admin'],
  'GET /audit': ['admin'],
  'POST /order/leads': ['leads:write'],
  'GET /order/leads': ['leads:read'],
  'GET /order/leads as CSV': ['leads:read'],
  'GET /order/leads as NDJSON': ['leads:read'],
  'POST /order/leads/export': ['leads:read'],
  'GET /order/leads/{id}': ['leads:read'],
  'PATCH /order/leads/{id}': ['leads:write'],
  'PATCH /order/leads/{id} status': ['leads:write', 'leads:status'],
  'PATCH /order/leads/{id} out of Paid': ['leads:write', 'leads:status'],
  'PATCH /order/leads/{id} hold': ['leads:write', 'leads:status'],
  'PATCH /order/leads/{id} payout': ['leads:write', 'leads:status'],
  'PATCH /order/leads/{id} assignee': ['leads:write'],
  'POST /order/leads/assignment': ['leads:write'],
  'POST /order/leads/assignment/undo': ['leads:write'],
  'GET /order/leads of an assignee': ['leads:read'],
  'GET /order/leads/{id}/notes': ['leads:read'],
  'POST /order/leads/{id}/notes': ['leads:write'],
  'GET /order/leads/{id}/history': ['leads:read'],
  'GET /order/leads/{id}/deliveries': ['admin'],
  'POST /order/leads/status': ['leads:status'],
  'POST /jobs': ['leads:status'],
  'POST /jobs assign': ['leads:write'],
  'GET /jobs': ['leads:read'],
  'GET /jobs/{id}': ['leads:read'],
  'DELETE /jobs/{id}': ['leads:status'],
  'DELETE /jobs/{id} assign': ['leads:write'],
  'POST /jobs/{id}/undo': ['leads:status'],
  'POST /jobs/{id}/undo assign': ['leads:write'],
  'GET /views': ['leads:read'],
  'POST /views': ['admin'],
  'POST /views shared': ['admin'],
  'PATCH /views/{id}': ['admin'],
  'DELETE /views/{id}': ['admin'],
  'GET /status-aliases': ['leads:read'],
  'PUT /status-aliases': ['admin'],
  'POST /order/leads/status/import': ['leads:status'],
  'POST /order/leads/import': ['leads:write'],
  'GET /campaigns': ['leads:read'],
  'POST /campaigns': ['admin'],
  'PATCH /campaigns/{id}': ['admin'],
  'GET /campaigns/{id}/payouts': ['leads:read'],
  'PUT /campaigns/{id}/payouts/{userId}': ['admin'],
  'DELETE /campaigns/{id}/payouts/{userId}': ['admin'],
  'GET /statements': ['leads:read'],
  'POST /payments': ['leads:status'],
  'GET /payments': ['leads:read'],
  'GET /payments/{id}': ['leads:read'],
  'POST /payments/{id}/cancel': ['leads:status'],
  'GET /landing-pages': ['leads:read'],
  'POST /landing-pages': ['admin'],
  'PATCH /landing-pages/{id}': ['admin'],
  'POST /landing-pages/{id}/dismissal': ['admin'],
  'GET /events': ['events'],
};

/** The scopes of routes that need another scope for each action, by the beginnings of their rows. */
const alternativeScopes: Readonly<Record<string, readonly SingleScope[]>> = {
  'POST /jobs': ['leads:status', 'leads:write'],
  'DELETE /jobs/{id}': ['leads:status', 'leads:write'],
  'POST /jobs/{id}/undo': ['leads:status', 'leads:write'],
};

/** Returns the scopes of which the route of a row needs one. */
const routeScopesOf = (row: string): readonly SingleScope[] =>
  alternativeScopes[row.split(' ').slice(0, 2).join(' ')] ?? (neededScopes[row] ?? []).slice(0, 1);

const forPages: Matrix = {
  'POST /order/leads/{id}/viewers': {
    ...managers,
    forOtherUser: managers,
    request: async (of) => ({ path: `${leads}/${await leadOf(of)}/viewers` }),
  },
  'DELETE /order/leads/{id}/viewers': {
    ...managers,
    forOtherUser: managers,
    request: async (of) => {
      const path = `${leads}/${await leadOf(of)}/viewers`;
      for (const { visitor } of [people.owner, people.manager]) await visitor.send('POST', `/console${path}`);
      return { path };
    },
  },
  ...common,
  'GET /order/leads.csv': {
    ...everyone,
    forOtherUser: everyone,
    request: async (of) => ({ path: `${leads}.csv`, hidden: await leadOf(of) }),
  },
  'GET /order/leads.ndjson': {
    ...everyone,
    forOtherUser: everyone,
    request: async (of) => ({ path: `${leads}.ndjson`, hidden: await leadOf(of) }),
  },
  'GET /lead-viewers': { ...managers, request: () => ({ path: '/lead-viewers' }) },
  'GET /lead-columns': {
    ...everyone,
    forOtherUser: everyone,
    request: async (of) => {
      const id = await leadOf(of);
      return { path: `/lead-columns?ids=${id}`, hidden: id };
    },
  },
  'GET /failing-endpoints': { ...everyone, request: () => ({ path: '/failing-endpoints' }) },
  'GET /overview': { ...everyone, request: () => ({ path: '/overview?from=2026-01-01&to=2026-01-31' }) },
  'GET /overview/countries': {
    ...everyone,
    request: () => ({ path: '/overview/countries?from=2026-01-01&to=2026-01-31' }),
  },
  'GET /overview/payouts': {
    ...everyone,
    request: () => ({ path: '/overview/payouts?from=2026-01-01&to=2026-01-31' }),
  },
  'GET /overview/publisher-payouts': {
    ...managers,
    request: () => ({
      path: `/overview/publisher-payouts?from=2026-01-01&to=2026-01-31&users=${people.owner.member.userId}`,
    }),
  },
  'GET /overview/sub-id-payouts': {
    ...everyone,
    request: () => ({ path: '/overview/sub-id-payouts?from=2026-01-01&to=2026-01-31' }),
  },
  'GET /attention': { ...everyone, request: () => ({ path: '/attention' }) },
  'GET /campaign-figures': { ...everyone, request: () => ({ path: '/campaign-figures' }) },
  'GET /campaign-publishers': { ...managers, request: () => ({ path: '/campaign-publishers' }) },
  'GET /campaigns/{id}/publishers': {
    ...managers,
    request: async () => ({ path: `/campaigns/${await campaign()}/publishers` }),
  },
  'GET /api-keys': {
    ...everyone,
    request: () => ({ path: '/api-keys' }),
  },
  'POST /api-keys': { ...everyone, request: () => ({ path: '/api-keys', body: { name: 'One' } }) },
  'POST /api-keys/{id}/rotate': {
    ...everyone,
    forOtherUser: hidden,
    request: async (of) => ({ path: `/api-keys/${await createCredential(of, '/api-keys')}/rotate` }),
  },
  'DELETE /api-keys/{id}': {
    ...everyone,
    forOtherUser: hidden,
    request: async (of) => ({ path: `/api-keys/${await createCredential(of, '/api-keys')}` }),
  },
  'GET /api-keys/{id}/requests': {
    ...everyone,
    forOtherUser: { ...everyone, publisher: 404 },
    request: async (of) => ({ path: `/api-keys/${await createCredential(of, '/api-keys')}/requests` }),
  },
  'GET /api-keys/{id}/usage': {
    ...everyone,
    forOtherUser: { ...everyone, publisher: 404 },
    request: async (of) => ({ path: `/api-keys/${await createCredential(of, '/api-keys')}/usage` }),
  },
  'GET /audit.csv': { ...owners, request: () => ({ path: '/audit.csv' }) },
  'GET /access-tokens': { ...everyone, request: () => ({ path: '/access-tokens' }) },
  'POST /access-tokens': { ...everyone, request: () => ({ path: '/access-tokens', body: { name: 'One' } }) },
  'DELETE /access-tokens/{id}': {
    ...everyone,
    forOtherUser: hidden,
    request: async (of) => ({ path: `/access-tokens/${await createCredential(of, '/access-tokens')}` }),
  },
  // The route answers 409 after the permission check, because this CRM has no INTAKE_URL.
  'POST /try-intake': {
    owner: 409,
    manager: 409,
    publisher: 409,
    request: () => ({
      path: '/try-intake',
      body: { apiKey: 'lk_0', lead: { name: personalData.name, phone: personalData.phone } },
    }),
  },
  'GET /campaigns/{id}/integration-link': {
    ...managers,
    request: async () => ({ path: `/campaigns/${await campaignWithLink()}/integration-link` }),
  },
  'POST /campaigns/{id}/integration-link': {
    ...managers,
    request: async () => ({ path: `/campaigns/${await campaign()}/integration-link` }),
  },
  'DELETE /campaigns/{id}/integration-link': {
    ...managers,
    request: async () => ({ path: `/campaigns/${await campaignWithLink()}/integration-link` }),
  },
  'GET /members': { ...managers, request: () => ({ path: '/members' }) },
  'GET /members/credentials': { ...managers, request: () => ({ path: '/members/credentials' }) },
  'DELETE /members/api-keys/{id}': {
    ...managers,
    forOtherUser: managers,
    request: async (of) => ({ path: `/members/api-keys/${await createCredential(of, '/api-keys')}` }),
  },
  'DELETE /members/access-tokens/{id}': {
    ...managers,
    forOtherUser: managers,
    request: async (of) => ({
      path: `/members/access-tokens/${await createCredential(of, '/access-tokens')}`,
    }),
  },
  'GET /first-steps': { ...everyone, request: () => ({ path: '/first-steps' }) },
  'GET /invitations': { ...owners, request: () => ({ path: '/invitations' }) },
  'PATCH /workspace': { ...owners, request: () => ({ path: '/workspace', body: { name: randomUUID() } }) },
  'POST /workspaces': {
    ...everyone,
    withoutWorkspace: 200,
    request: () => ({ path: '/workspaces', body: { name: 'Another' } }),
  },
  'GET /me': { ...everyone, withoutWorkspace: 200, request: () => ({ path: '/me' }) },
  'GET /sessions': { ...everyone, withoutWorkspace: 200, request: () => ({ path: '/sessions' }) },
  'DELETE /sessions/{id}': {
    ...everyone,
    forOtherUser: hidden,
    withoutWorkspace: 200,
    request: async (of) => ({ path: `/sessions/${await sessionOf(of)}` }),
  },
};

interface GuardedApi {
  readonly prefix: string;
  readonly matrix: Matrix;
  /** The registered routes that the table must cover. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  readonly send: (person: Person, method: string, request: RequestCase) => Promise<Answer>;
}

const sendWithKey: GuardedApi['send'] = ({ member }, method, { path, body, headers }) =>
  service.send({
    method,
    path: `/api/v1${path}`,
    headers: { ...member.headers, ...headers },
    ...(body !== undefined && { body }),
  });

/** The two APIs, each with its own guard. */
const apis: Readonly<Record<string, GuardedApi>> = {
  'with an API key and an access token': {
    prefix: '/api/v1',
    matrix: forIntegrators,
    routes: guardedRoutesOf(service.document),
    send: sendWithKey,
  },
  'signed in': {
    prefix: '/api/console',
    matrix: forPages,
    routes: await signedInRoutesOf(service),
    send: ({ visitor }, method, { path, body, headers }) =>
      visitor.send(method, `/console${path}`, body, headers),
  },
};

const lacking = (scope: string | undefined) => ({
  ...forbidden,
  message: `This API key does not have the scope ${scope}`,
});

const writtenTables = [
  'status_alias',
  'saved_view',
  'lead_job',
  'lead',
  'lead_change',
  'lead_note',
  'lead_viewer',
  'campaign',
  'publisher_payout',
  'payment',
  'payment_lead',
  'landing_page',
  'api_key',
  'access_token',
  'workspace',
  'session',
  'delivery_endpoint',
  'delivery',
];
/** The tables whose `last_used_*` the service writes later. */
const usedTables = new Set(['api_key', 'access_token', 'session']);
/**
 * Returns a text that changes if a route changes data. Every stored row has the number of the transaction that wrote
 * it, in `xmin`. A digest of all rows takes several times the processor time.
 */
async function stored(tables: readonly string[] = writtenTables) {
  const row = `(to_jsonb(each) - '{last_used_at,last_used_from}'::text[])::text`;
  const states = tables.map((table) =>
    usedTables.has(table)
      ? `(SELECT sum(hashtextextended(${row}, 0)) FROM ${table} AS each)`
      : `(SELECT count(*) || ':' || max(xmin::text::bigint) FROM ${table})`,
  );
  const [all] = await fixture.sql<{ state: string }>(`SELECT concat_ws(' ', ${states.join(', ')}) AS state`);
  return all?.state;
}

test.each(Object.values(apis))(
  'the table of $prefix contains exactly the guarded routes',
  ({ prefix, matrix, routes }) => {
    // A route can have more rows, each with a description after the path.
    const rows = Object.keys(matrix).map((row) => row.split(' ', 2).join(` ${prefix}`));
    const registered = routes.map(({ method, path }) => `${method} ${path}`);
    expect([...new Set(rows)].toSorted()).toEqual(registered.toSorted());
  },
);

/** Returns the roles that have a permission; without change, a permission that no role decides. */
const admittedBy = (permission: string | undefined) =>
  Object.hasOwn(rolesWith, permission ?? '') ? rolesWith[permission as MemberPermission] : permission;

test.each(Object.values(apis))(
  'every route below $prefix declares the permission that its table grants to roles',
  ({ prefix, matrix }) => {
    for (const [name, row] of Object.entries(matrix)) {
      const [method, path = ''] = name.split(' ');
      const route = service.routes.find((each) => each.method === method && each.path === `${prefix}${path}`);
      // A row with a description covers one use of a route. Without another row, all members may call the route.
      const whole = matrix[`${method} ${path}`];
      const granted =
        row.withoutWorkspace === undefined
          ? (['owner', 'manager', 'publisher'] as const).filter((role) => whole?.[role] !== 403)
          : 'signedIn';
      expect([name, admittedBy(route?.permission)]).toEqual([name, granted]);
    }
  },
);

for (const [way, { matrix, send, prefix }] of Object.entries(apis)) {
  describe.each(Object.entries(matrix))(`${way}, %s`, (name, row) => {
    const [method = ''] = name.split(' ');

    async function expectAnswer(person: Person, of: Person, status: number) {
      const request = await row.request(of);
      const before = await stored();
      const answer = await send(person, method, request);
      const found = [name, person.member.role, answer.status, answer.text];
      expect(found).toEqual([name, person.member.role, status, answer.text]);
      expect((await stored()) !== before).toBe(status === 200 && method !== 'GET' && row.isRead !== true);
      const problems: Readonly<Record<number, object>> = {
        403: { success: false, error: forbidden.error },
        404: notFound,
      };
      expect(status === 200 ? {} : answer.json()).toMatchObject(problems[status] ?? {});
      return { request, answer };
    }

    test('answers each role as listed for its own resource', async () => {
      for (const role of ['owner', 'manager', 'publisher'] as const) {
        await expectAnswer(people[role], people[role], row[role]);
      }
    });

    if (prefix === '/api/console') {
      test('answers a user without a workspace as listed', async () => {
        await fixture.sql('DELETE FROM member WHERE user_id = $1', [withoutWorkspace.member.userId]);
        const of = row.withoutWorkspace === undefined ? people.owner : withoutWorkspace;
        const { answer } = await expectAnswer(withoutWorkspace, of, row.withoutWorkspace ?? 403);
        const message = 'You are not a member of any workspace';
        expect(answer.text).toContain(row.withoutWorkspace === undefined ? message : '');
      });
    }

    const { forOtherUser } = row;
    if (forOtherUser === undefined) return;
    test('answers each role as listed for a resource of another user', async () => {
      for (const role of ['owner', 'manager'] as const) {
        const { request, answer } = await expectAnswer(people[role], anotherUser, forOtherUser[role]);
        expect(answer.text).toContain(request.hidden ?? '');
      }
      const { request, answer } = await expectAnswer(people.publisher, anotherUser, forOtherUser.publisher);
      expect(answer.text).not.toContain(request.hidden ?? 'no hidden text');
    });
  });
}

test('every row of the API for integrators lists its scopes, and the document names the scope of its route', () => {
  expect(Object.keys(neededScopes).toSorted()).toEqual(Object.keys(forIntegrators).toSorted());
  for (const { method, path, operation } of guardedRoutesOf(service.document)) {
    const scopes = routeScopesOf(`${method} ${path.replace('/api/v1', '')}`);
    const security = scopes.map((scope) => ({ ApiKey: [scope], AccessToken: [] }));
    expect([path, operation.security]).toEqual([path, security]);
    const names = scopes.map((scope) => `\`${scope}\``).join(' or ');
    expect(operation).toMatchObject({ description: expect.stringContaining(`the scope ${names}`) });
  }
});

const membersWithScopes = new Map<string, Promise<TestMember>>();
/** Returns a member of a role whose key has these scopes. The rows share it. */
function withScopes(role: MemberRole, scope: readonly SingleScope[]): Promise<TestMember> {
  const name = `${role} ${scope.join(' ')}`;
  const member = membersWithScopes.get(name) ?? workspace.addMember(role, { scope });
  membersWithScopes.set(name, member);
  return member;
}
const ownersWith = Object.fromEntries(
  await Promise.all(singleScopes.map(async (scope) => [scope, await withScopes('owner', [scope])] as const)),
);
const ownersWithout = Object.fromEntries(
  await Promise.all(
    singleScopes.map(async (scope) => {
      const others = singleScopes.filter((each) => each !== scope);
      return [scope, await withScopes('owner', others)] as const;
    }),
  ),
);

describe.each(Object.entries(forIntegrators))('with a key of single scopes, %s', (name, row) => {
  const [method = ''] = name.split(' ');
  const needed = neededScopes[name] ?? [];

  async function expectStatus(member: TestMember, status: number) {
    const person = { ...people.owner, member };
    const request = await row.request(people.owner);
    const before = await stored();
    const answer = await sendWithKey(person, method, request);
    expect([name, answer.status, answer.text]).toEqual([name, status, answer.text]);
    expect((await stored()) !== before).toBe(status === 200 && method !== 'GET' && row.isRead !== true);
    return answer;
  }

  test('rejects an intake key and keys without a needed scope, and changes nothing', async () => {
    const request = await row.request(people.owner);
    const before = await stored();
    const expectRejected = async (member: TestMember | undefined, keyScopes: string, lacked: string) => {
      if (member === undefined) throw new Error(`No member has a key of ${keyScopes}`);
      const answer = await sendWithKey({ ...people.owner, member }, method, request);
      expect([keyScopes, answer.status, answer.json()]).toEqual([keyScopes, 403, lacking(lacked)]);
    };
    const ofRoute = routeScopesOf(name);
    await expectRejected(forIntake, 'intake', ofRoute.join(' or '));
    for (const scope of singleScopes) {
      const missing = needed.find((each) => each !== scope);
      if (missing === undefined) continue;
      const lacked = ofRoute.includes(scope) ? missing : ofRoute.join(' or ');
      await expectRejected(ownersWith[scope], `only ${scope}`, lacked);
    }
    for (const scope of needed) await expectRejected(ownersWithout[scope], `all but ${scope}`, scope);
    expect(await stored()).toBe(before);
  });

  test('allows a key of the needed scopes, within the role of its member', async () => {
    await expectStatus(await withScopes('owner', needed), row.owner);
    if (row.publisher !== 403) return;
    const answer = await expectStatus(
      await withScopes('publisher', needed),
      row.forOtherUser?.publisher ?? 403,
    );
    expect(answer.json()).toEqual(answer.status === 404 ? notFound : forbidden);
  });
});

async function membership(): Promise<string> {
  const { userId } = await workspace.addMember('publisher');
  const [row] = await fixture.sql<{ id: string }>(
    'SELECT id FROM member WHERE user_id = $1 AND workspace_id = $2',
    [userId, workspace.id],
  );
  return row?.id ?? '';
}
const organizationId = workspace.id;
const invitation = () => ({ email: `${randomUUID()}@example.com`, role: 'publisher', organizationId });
async function invitationId(): Promise<string> {
  const answer = await people.owner.visitor.account('/organization/invite-member', invitation());
  return answer.json<{ id: string }>().id;
}

/** The account routes that change the members of a workspace. */
const memberRoutes: Readonly<Record<string, Roles & { readonly body: () => Promise<object> | object }>> = {
  '/organization/invite-member': { ...owners, body: invitation },
  '/organization/cancel-invitation': {
    ...owners,
    body: async () => ({ invitationId: await invitationId() }),
  },
  '/organization/update-member-role': {
    ...owners,
    body: async () => ({ memberId: await membership(), role: 'manager', organizationId }),
  },
  '/organization/remove-member': {
    ...owners,
    body: async () => ({ memberIdOrEmail: await membership(), organizationId }),
  },
};

/** The account routes that affect only the caller, for any role. */
const callerRoutes = [
  '/change-password',
  '/confirm-password',
  '/organization/accept-invitation',
  '/organization/leave',
  '/organization/reject-invitation',
  '/organization/set-active',
  '/request-password-reset',
  '/reset-password',
  '/send-verification-email',
  '/sign-in/email',
  '/sign-out',
  '/sign-up/email',
  '/two-factor/disable',
  '/two-factor/enable',
  '/two-factor/generate-backup-codes',
  '/two-factor/verify-backup-code',
  '/two-factor/verify-totp',
  '/update-user',
  '/verify-email',
];

test('every account route is listed either as a member route or as a caller route', async () => {
  const prefix = '/api/auth';
  const accountRoutes = (await websiteRoutesOf(service)).filter(({ path }) => path.startsWith(prefix));
  const paths = accountRoutes.map(({ path }) => path);
  const known = [...Object.keys(memberRoutes), ...callerRoutes].map((path) => `${prefix}${path}`);
  expect(paths.toSorted()).toEqual(known.toSorted());
  const ownerRoutes = accountRoutes
    .filter(({ permission }) => permission === 'manageMembers')
    .map(({ path }) => path);
  expect(ownerRoutes.toSorted()).toEqual(
    Object.keys(memberRoutes)
      .map((path) => `${prefix}${path}`)
      .toSorted(),
  );
});

describe.each(Object.entries(memberRoutes))('%s', (path, row) => {
  test.each(['owner', 'manager', 'publisher'] as const)('answers the role %s as listed', async (role) => {
    const body = await row.body();
    const before = await stored(['member', 'invitation']);
    const answer = await people[role].visitor.account(path, body);
    expect([answer.status, answer.text]).toEqual([row[role], answer.text]);
    expect((await stored(['member', 'invitation'])) !== before).toBe(row[role] === 200);
  });
});
