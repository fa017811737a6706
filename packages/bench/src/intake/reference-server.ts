import type { AddressInfo } from 'node:net';
import { openDatabase } from '@leads/core/db';
import { IntakeLead, Lead } from '@leads/core/lead';
import Fastify from 'fastify';
import pg from 'pg';
import { Type } from 'typebox';
import { uuidv7 as newId } from 'uuidv7';
import { type ListedRow, newestLeadsByHand, toLeadByHand } from '../list/by-hand.ts';
import { crmLeadsPath, referenceOwner, submitPath } from '../load/requests.ts';

/*
 * A reference of the intake and of the CRM: a plain Fastify server with the same validation, response and rows, but
 * without credentials and log. It sends its port over the IPC channel. Its first argument names the function that
 * stores a row. Its second argument, if given, is the workspace whose newest leads it lists.
 */

type StoreRow = (row: ReturnType<typeof toRow>) => Promise<unknown>;
interface Reference {
  readonly storeRow: StoreRow;
  /** A reference of the CRM's route that edits a lead. */
  readonly changeStatus?: (id: string, status: string) => Promise<unknown>;
  /** A reference of the CRM's route that lists leads. */
  readonly listNewest?: (workspaceId: string) => Promise<Lead[]>;
}

/** The default of the service and of node-postgres. */
const poolSize = 10;

const references: Record<string, (databaseUrl: string) => Reference> = {
  fastify: () => ({ storeRow: () => Promise.resolve() }),

  prisma(url) {
    const timeouts = { connectTimeoutMs: 30_000, statementTimeoutMs: 30_000 };
    const { prisma } = openDatabase({ url, poolSize, ...timeouts, applicationName: 'leads-bench' });
    // Prisma caches a plan for each value of a plain list, which doubles the time. It caches one plan for `set`.
    return {
      storeRow: ({ words, ...row }) => prisma.lead.create({ data: { ...row, words: { set: words } } }),
    };
  },

  pg(connectionString) {
    const pool = new pg.Pool({ connectionString, max: poolSize });
    return {
      listNewest: async (workspaceId) =>
        (await pool.query<ListedRow>(newestLeadsByHand, [workspaceId])).rows.map(toLeadByHand),
      changeStatus: (id, status) =>
        pool.query({
          name: 'update',
          text: 'UPDATE lead SET status = $2, version = version + 1, updated_at = $3 WHERE id = $1',
          values: [id, status, new Date()],
        }),
      storeRow: (row) =>
        pool.query({
          name: 'insert',
          // The columns have the order of the row's fields (toRow).
          text: `INSERT INTO lead (id, workspace_id, user_id, campaign_id, source, status, name, phone, phone_e164,
              address, ip, s1, lp_name, version, words, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
          values: Object.values(row),
        }),
    };
  },
};

/** Returns the row that the intake stores, with as little work as possible. */
function toRow(body: IntakeLead, ip: string) {
  const phoneE164 = body.phone.replaceAll(/[^+0-9]/g, '');
  const now = new Date();
  return {
    id: newId(),
    ...referenceOwner,
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

const Changed = Type.Object({ success: Type.Literal(true), lead: Type.Object({ id: Type.String() }) });
const Submitted = Type.Object({ success: Type.Literal(true), order_id: Type.String() });

const [, , kind = '', listedWorkspaceId] = process.argv;
const reference = references[kind]?.(process.env['DATABASE_URL'] ?? '');
if (reference === undefined) throw new Error(`Reference ${kind} does not exist`);
// The validation is as strict as the intake's: values are not converted.
const { storeRow, changeStatus, listNewest } = reference;
const app = Fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false } } });
app.post<{ Body: IntakeLead }>(
  submitPath,
  { schema: { body: IntakeLead, response: { 200: Submitted } } },
  async (request) => {
    const row = toRow(request.body, request.ip);
    await storeRow(row);
    return { success: true, order_id: row.id };
  },
);
if (changeStatus !== undefined) {
  app.patch<{ Params: { id: string }; Body: { status: string } }>(
    `${crmLeadsPath}/:id`,
    { schema: { body: Type.Object({ status: Type.String() }), response: { 200: Changed } } },
    async ({ params, body }) => {
      await changeStatus(params.id, body.status);
      return { success: true, lead: { id: params.id } };
    },
  );
}
if (listNewest !== undefined && listedWorkspaceId !== undefined) {
  app.get(crmLeadsPath, { schema: { response: { 200: Type.Array(Lead) } } }, () =>
    listNewest(listedWorkspaceId),
  );
}
await app.listen({ host: '127.0.0.1', port: 0 });
process.once('disconnect', () => process.exit());
process.send?.({ port: (app.server.address() as AddressInfo).port });
