import { randomUUID } from 'node:crypto';
import type { LeadDetail, LeadHistoryEntry, LeadStatus } from '@leads/core/lead';
import type { TestMember, TestWorkspace } from '@leads/test-kit/fixture';
import { type Fixture, jwtSecret, openFixture } from '@leads/test-kit/fixture';
import type { Answer } from '@leads/test-kit/http-client';
import type { RunningService } from '@leads/test-kit/running-service';
import { createTestDatabase } from '@leads/test-kit/test-database';
import { expect } from 'vitest';
import { createAccessTokenCodec } from '../src/access-token-codec.ts';
import { startCrmService } from './crm.ts';

export const leadsPath = '/api/v1/order/leads';

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** The result for one lead of a bulk change. */
export interface Outcome {
  readonly id: string;
  readonly success: boolean;
  readonly status?: LeadStatus;
  readonly version?: number;
  readonly error?: string;
  readonly message?: string;
}

/** Returns a function that sends requests of a member to the API of a service. Paths are below `/api/v1`. */
export function apiCalls(service: RunningService) {
  return (member: TestMember, method: string, path: string, body?: unknown, headers: Headers = {}) =>
    service.send({
      method,
      path: `/api/v1${path}`,
      headers: { ...member.headers, ...headers },
      ...(body !== undefined && { body }),
    });
}

/** Returns functions that send lead requests of a member to a service. */
export function leadsApi(service: RunningService) {
  const send = (
    member: TestMember,
    method: string,
    path: string,
    { body, headers }: { body?: unknown; headers?: Headers } = {},
  ) => service.send({ method, path: leadsPath + path, headers: { ...member.headers, ...headers }, body });

  return {
    send,
    create: (member: TestMember, body: object, headers?: Headers) =>
      send(member, 'POST', '', { body: { campaignCode: 'DEMO', ...body }, ...(headers && { headers }) }),
    edit: (member: TestMember, id: string, body: unknown, headers?: Headers) =>
      send(member, 'PATCH', `/${id}`, { body, ...(headers && { headers }) }),
    changeStatuses: (member: TestMember, ids: readonly string[], status: string, reason?: string) =>
      send(member, 'POST', '/status', { body: { ids, status, reason } }),
    async get(member: TestMember, id: string): Promise<LeadDetail> {
      return ok<LeadDetail>(await send(member, 'GET', `/${id}`));
    },
    async history(member: TestMember, id: string): Promise<LeadHistoryEntry[]> {
      return ok<LeadHistoryEntry[]>(await send(member, 'GET', `/${id}/history`));
    },
    async list(member: TestMember, query: Record<string, string> = {}) {
      return page(await send(member, 'GET', `?${new URLSearchParams(query).toString()}`));
    },
    /** Fetches the page of a link. */
    async follow(member: TestMember, link: URL) {
      return page(await service.send({ path: link.pathname + link.search, headers: { ...member.headers } }));
    },
  };
}

export type LeadsApi = ReturnType<typeof leadsApi>;

/** A page of the list, with the URLs of the next and the previous one. */
export interface Page {
  readonly leads: { id: string; createdAt: string; updatedAt: string; status: LeadStatus; name: string }[];
  readonly next?: URL;
  readonly prev?: URL;
  readonly totalCount?: number;
}

function page(answer: Answer): Page {
  const leads = ok<Page['leads']>(answer);
  const links = Object.fromEntries(
    Array.from(String(answer.headers['link'] ?? '').matchAll(/<([^<>]+)>; rel="(next|prev)"/g)).map(
      ([, url = '', relation = '']) => [relation, new URL(url)],
    ),
  );
  const count = answer.headers['x-total-count'];
  return { leads, ...links, ...(count !== undefined && { totalCount: Number(count) }) };
}

/** Checks that the status is 200 and returns the body. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the expected type
export function ok<Body>(answer: Answer): Body {
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.json<Body>();
}

/** Inserts `count` leads, created 1 ms apart. */
export async function fillWorkspace(
  fixture: Fixture,
  workspace: TestWorkspace,
  count: number,
  description = '',
): Promise<void> {
  await fixture.sql(
    `INSERT INTO lead (id, workspace_id, campaign_id, user_id, source, status, name, phone, description, version, words, created_at, updated_at)
     SELECT gen_random_uuid(), $1, $2, $3, 'crm', 'OnHold', 'Lead ' || n, '+1 202 555 0143', $4, 1, ARRAY['lead'],
       timestamptz '2026-01-01' + n * interval '1 ms', timestamptz '2026-01-01' + n * interval '1 ms'
     FROM generate_series(1, $5) AS n`,
    [workspace.id, workspace.demoCampaignId, workspace.owner.userId, description, count],
  );
}

/** Calls `act` for each item, 20 at a time. */
export async function forEachInBatches<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<void>,
): Promise<void> {
  for (let i = 0; i < items.length; i += 20) await Promise.all(items.slice(i, i + 20).map(act));
}

/** 2 instances of the CRM on one database. */
export interface TwoCrms extends AsyncDisposable {
  readonly services: readonly [RunningService, RunningService];
  readonly apis: readonly [LeadsApi, LeadsApi];
  readonly fixture: Fixture;
  readonly databaseUrl: string;
}

/** Starts 2 instances of the CRM on their own, empty database. */
export async function startTwoCrms(): Promise<TwoCrms> {
  const database = await createTestDatabase();
  const fixture = openFixture(database.url, await createAccessTokenCodec(jwtSecret));
  const start = () => startCrmService(database.url);
  const services = [await start(), await start()] as const;
  return {
    services,
    apis: [leadsApi(services[0]), leadsApi(services[1])],
    fixture,
    databaseUrl: database.url,
    async [Symbol.asyncDispose]() {
      try {
        for (const service of services) await service[Symbol.asyncDispose]();
      } finally {
        await fixture[Symbol.asyncDispose]();
        await database[Symbol.asyncDispose]();
      }
    },
  };
}

export const unknownId = () => randomUUID();

/** The header with which errors are answered as problem details (RFC 9457). */
export const problem = { Accept: 'application/problem+json' };

export const invalidInput = { success: false, error: 'validation', message: 'Invalid input data' };
export const notFound = { success: false, error: 'error', message: 'Not found' };
export const forbidden = {
  success: false,
  error: 'unauthorized',
  message: 'This credential may not do that',
};
