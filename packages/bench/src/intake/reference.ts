import type { AddressInfo } from 'node:net';
import { openDatabase } from '@leads/core/db';
import { IntakeLead } from '@leads/core/lead';
import Fastify from 'fastify';
import pg from 'pg';
import { Type } from 'typebox';
import { uuidv7 as newId } from 'uuidv7';
import { leadPath, owner } from './lead-requests.ts';

/*
 * What the intake is measured against, as a process of its own: a plain Fastify with the same validation, answer and
 * rows, and neither credentials nor log. Started with an IPC channel, over which it tells its port.
 */

/** Stores a row. */
type Reference = (row: ReturnType<typeof toRow>) => Promise<unknown>;

/** As many connections as the service has by default, and node-postgres too. */
const poolSize = 10;

const references: Record<string, (databaseUrl: string) => Reference> = {
  fastify: () => () => Promise.resolve(),

  prisma(url) {
    const timeouts = { connectTimeoutMs: 30_000, statementTimeoutMs: 30_000 };
    const { prisma } = openDatabase({ url, poolSize, ...timeouts, applicationName: 'leads-bench' });
    // A list that is given by itself is part of what Prisma keeps its plans by: a plan for each lead, and twice the time.
    return ({ words, ...row }) => prisma.lead.create({ data: { ...row, words: { set: words } } });
  },

  pg(connectionString) {
    const pool = new pg.Pool({ connectionString, max: poolSize });
    return (row) =>
      pool.query({
        name: 'insert',
        text: `INSERT INTO lead (id, workspace_id, campaign_id, user_id, source, status, name, phone, phone_e164,
              address, ip, s1, lp_name, version, words, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
        values: [
          row.id,
          row.workspaceId,
          row.campaignId,
          row.userId,
          row.source,
          row.status,
          row.name,
          row.phone,
          row.phoneE164,
          row.address,
          row.ip,
          row.s1,
          row.lpName,
          row.version,
          row.words,
          row.createdAt,
          row.updatedAt,
        ],
      });
  },
};

/** The row that the intake would store of it, by the shortest way there. */
function toRow(body: IntakeLead, ip: string) {
  const phoneE164 = body.phone.replaceAll(/[^+0-9]/g, '');
  const now = new Date();
  return {
    id: newId(),
    ...owner,
    source: 'intake' as const,
    status: 'OnHold' as const,
    name: body.name,
    phone: body.phone,
    phoneE164,
    address: body.address ?? null,
    ip,
    s1: body.s1 ?? null,
    lpName: body.lp_name ?? null,
    version: 1,
    words: [phoneE164.slice(1), ...body.name.toLowerCase().split(' ')],
    createdAt: now,
    updatedAt: now,
  };
}

const Submitted = Type.Object({ success: Type.Literal(true), order_id: Type.String() });

const [, , kind = '', databaseUrl = ''] = process.argv;
const reference = references[kind]?.(databaseUrl);
if (reference === undefined) throw new Error(`There is no reference ${kind}`);
// As strict as the intake: what is no text is not made one.
const app = Fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } });
app.post<{ Body: IntakeLead }>(
  leadPath,
  { schema: { body: IntakeLead, response: { 200: Submitted } } },
  async (request) => {
    const row = toRow(request.body, request.ip);
    await reference(row);
    return { success: true, order_id: row.id };
  },
);
await app.listen({ host: '127.0.0.1', port: 0 });
process.once('disconnect', () => process.exit());
process.send?.({ port: (app.server.address() as AddressInfo).port });
