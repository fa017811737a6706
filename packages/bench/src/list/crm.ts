import type { AddressInfo } from 'node:net';
import { openDatabase } from '@leads/core/db';
import { Lead, LeadQuery } from '@leads/core/lead';
import { buildApp } from '@leads/crm/app';
import { CrmConfig } from '@leads/crm/config';
import { type CrmContext, createContext } from '@leads/crm/context';
import { keepHeapSmall } from '@leads/crm/heap';
import { createServer, registerRoutes, type Server } from '@leads/http/server/create-server';
import { requireApiKeyAndToken } from '@leads/http/server/guards';
import { loadConfig } from '@leads/http/service/config';
import { createLogger } from '@leads/http/service/log';
import pg from 'pg';
import { Type } from 'typebox';

keepHeapSmall();

/*
 * The CRM service, or a reference of it whose list is written another way, as a process of its own: started with
 * an IPC channel, over which it tells its port and, when asked, its peak memory. A reference has the same server, guard, path,
 * query schema and settings, and differs in its handler and in the serialization of the answer.
 */

const path = '/api/v1/order/leads';

const references: Record<string, (app: Server, config: CrmConfig, closers: (() => unknown)[]) => void> = {
  /** `findMany`, whose objects Fastify serializes as it does without a response schema: by JSON.stringify. */
  prisma(app, config, closers) {
    const { prisma, ...database } = openDatabase(databaseOptions(config));
    closers.push(() => database[Symbol.asyncDispose]());
    app.get(path, { schema: { querystring: LeadQuery } }, (request) =>
      prisma.lead.findMany({
        where: { workspaceId: request.principal.workspaceId },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: 100,
        ...(process.argv[3] === 'select' && { select }),
      }),
    );
  },

  /** node-postgres by hand: one query of the columns that are shown, its rows mapped to the route's schema. */
  pg(app, config, closers) {
    const pool = new pg.Pool({ connectionString: config.DATABASE_URL, max: config.DATABASE_POOL_SIZE });
    closers.push(() => pool.end());
    app.get(
      path,
      { schema: { querystring: LeadQuery, response: { 200: Type.Array(Lead) } } },
      async (request) => {
        const { rows } = await pool.query<ListedRow>(
          `SELECT id, name, phone, created_at, updated_at, campaign_id, user_id, host(ip) AS ip, address, state,
            region, country, status
          FROM lead WHERE workspace_id = $1 ORDER BY created_at DESC, id DESC LIMIT 100`,
          [request.principal.workspaceId],
        );
        return rows.map(toLead);
      },
    );
  },
};

function toLead(row: ListedRow): Lead {
  const lead: Lead = {
    id: row.id,
    name: row.name,
    phone: row.phone,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    campaignId: row.campaign_id,
    userId: row.user_id,
    status: row.status,
  };
  if (row.ip !== null) lead.ip = row.ip;
  if (row.address !== null) lead.address = row.address;
  if (row.state !== null) lead.state = row.state;
  if (row.region !== null) lead.region = row.region;
  if (row.country !== null) lead.country = row.country;
  return lead;
}

interface ListedRow {
  id: string;
  name: string;
  phone: string;
  created_at: Date;
  updated_at: Date;
  campaign_id: string;
  user_id: string;
  ip: string | null;
  address: string | null;
  state: string | null;
  region: string | null;
  country: string | null;
  status: 'OnHold' | 'Approved' | 'Paid' | 'Trashed';
}

const select = {
  id: true,
  name: true,
  phone: true,
  createdAt: true,
  updatedAt: true,
  campaignId: true,
  userId: true,
  ip: true,
  address: true,
  state: true,
  region: true,
  country: true,
  status: true,
} as const;

function databaseOptions(config: CrmConfig) {
  return {
    url: config.DATABASE_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: config.DATABASE_STATEMENT_TIMEOUT_MS,
    applicationName: 'leads-bench',
  };
}

async function build(kind: string, config: CrmConfig, context: CrmContext, closers: (() => unknown)[]) {
  const reference = references[kind];
  if (reference === undefined) return buildApp(config, context, log);
  const app = createServer({ log, trustProxy: config.TRUST_PROXY });
  await registerRoutes(app, async (routes) => {
    await routes.register(async (guarded) => {
      requireApiKeyAndToken(guarded, context);
      reference(guarded, config, closers);
    });
  });
  return app;
}

const config = loadConfig(CrmConfig, process.env);
const log = createLogger({ service: 'crm', level: config.LOG_LEVEL });
const context = await createContext(config, log);
const closers: (() => unknown)[] = [() => context[Symbol.asyncDispose]()];
const app = await build(process.argv[2] ?? 'service', config, context, closers);
await app.listen({ host: '127.0.0.1', port: 0 });
process.on('message', () => process.send?.({ peakMemory: process.resourceUsage().maxRSS * 1024 }));
async function stop(): Promise<void> {
  await app.close();
  for (const close of closers.toReversed()) await close();
}
process.once('disconnect', () => void stop());
process.send?.({ port: (app.server.address() as AddressInfo).port });
