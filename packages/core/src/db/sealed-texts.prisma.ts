import type { SealedTexts, SealedTextStore } from '../delivery/reencrypt-secrets.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { withoutNulls } from './without-nulls.ts';

/** The secret before a rotation, during its overlap. */
const validPreviousSecret = Prisma.sql`CASE WHEN previous_secret_until > now() THEN previous_secret END`;

/** Creates the store of the sealed texts of webhooks in Postgres. */
export function createSealedTextStore({ select }: Database): SealedTextStore {
  return {
    async list(afterId, max) {
      const rows = await select(Prisma.sql`
        SELECT id, secret, ${validPreviousSecret} AS "previousSecret", headers FROM delivery_endpoint
        WHERE kind = 'webhook' AND deleted_at IS NULL AND (${afterId ?? null}::uuid IS NULL OR id > ${afterId ?? null}::uuid)
        ORDER BY id LIMIT ${max}`);
      return rows.map((row) => withoutNulls(row) as unknown as SealedTexts & { id: string });
    },

    async replace(id, before, after) {
      const rows = await select(Prisma.sql`
        UPDATE delivery_endpoint SET
          secret = ${after.secret}, headers = ${after.headers ?? null}, previous_secret = ${after.previousSecret ?? null},
          previous_secret_until = CASE WHEN ${after.previousSecret !== undefined} THEN previous_secret_until END
        WHERE id = ${id}::uuid AND secret = ${before.secret}
          AND ${validPreviousSecret} IS NOT DISTINCT FROM ${before.previousSecret ?? null}
          AND headers IS NOT DISTINCT FROM ${before.headers ?? null}
        RETURNING id`);
      return rows.length > 0;
    },
  };
}
