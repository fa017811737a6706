import type { AddressInfo } from 'node:net';
import { openDatabase } from '@leads/core/db';
import { Lead, LeadQuery } from '@leads/core/lead';
import { CrmConfig } from '@leads/crm/config';
import { createContext } from '@leads/crm/context';
import { limitHeapGrowth } from '@leads/crm/heap';
import { createServer, type Server } from '@leads/http/server/create-server';
import { requireApiKeyAndToken } from '@leads/http/server/guards';
import { loadConfig } from '@leads/http/service/config';
import { databaseOptions } from '@leads/http/service/database-options';
import { createLogger } from '@leads/http/service/log';
import pg from 'pg';
import { Type } from 'typebox';
import { crmLeadsPath } from '../load/requests.ts';
import { type ListedRow, newestLeadsByHand, toLeadByHand } from './by-hand.ts';

limitHeapGrowth();

/*
 * A reference of the CRM's list. It has the same server, guard, path, query schema and settings as the
 * service. It differs in its handler and in the serialization of the response. It sends its port over the IPC
 * channel.
 */

const route = { permission: 'member', scope: 'leads:read' } as const;

const references: Record<string, (app: Server) => void> = {
  /** `findMany` without a response schema: Fastify serializes its objects with JSON.stringify. */
  prisma(app) {
    const { prisma } = openDatabase(databaseOptions(config, 'leads-bench'));
    app.get(crmLeadsPath, { config: route, schema: { querystring: LeadQuery } }, (request) =>
      prisma.lead.findMany({
        where: { workspaceId: request.principal.workspaceId },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: 100,
        ...(process.argv[3] === 'select' && { select }),
      }),
    );
  },

  /** node-postgres: one query of the listed columns, its rows mapped to the route's schema. */
  pg(app) {
    const pool = new pg.Pool({ connectionString: config.DATABASE_URL, max: config.DATABASE_POOL_SIZE });
    app.get(
      crmLeadsPath,
      { config: route, schema: { querystring: LeadQuery, response: { 200: Type.Array(Lead) } } },
      async (request) => {
        const { rows } = await pool.query<ListedRow>(newestLeadsByHand, [request.principal.workspaceId]);
        return rows.map(toLeadByHand);
      },
    );
  },
};

const select = Object.fromEntries(
  [
    'id',
    'name',
    'phone',
    'createdAt',
    'updatedAt',
    'campaignId',
    'userId',
    'ip',
    'address',
    'state',
    'region',
    'country',
    'status',
  ].map((name) => [name, true]),
);

const config = loadConfig(CrmConfig, process.env);
const log = createLogger({ service: 'crm', level: config.LOG_LEVEL });
const context = await createContext(config, log);
const app = createServer({ log, trustProxy: config.TRUST_PROXY });
await app.register(async (guarded) => {
  requireApiKeyAndToken(guarded, context);
  references[process.argv[2] ?? '']?.(guarded);
});
await app.listen({ host: '127.0.0.1', port: 0 });
process.once('disconnect', () => process.exit());
process.send?.({ port: (app.server.address() as AddressInfo).port });
