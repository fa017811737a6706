import type { LeadNoteStore, StoredNote } from '../lead/lead-note-store.ts';
import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { noteTraceparents, traceparentsOf } from './traceparents.ts';
import { withoutNulls } from './without-nulls.ts';

const noteColumns = Prisma.sql`
  note.id, text, parent_id AS "parentId", author_id AS "authorId", "user".name AS author,
  note.created_at AS "createdAt"`;

/** Creates the store of notes in Postgres. */
export function createLeadNoteStore({ select }: Database): LeadNoteStore {
  const read = async (workspaceId: string, where: Prisma.Sql) => {
    const rows = await select<Record<string, unknown>>(
      Prisma.sql`
        SELECT ${noteColumns} FROM lead_note AS note JOIN "user" ON "user".id = author_id
        WHERE workspace_id = ${workspaceId}::uuid AND ${where}`,
      { workspaceId },
    );
    return rows.map((row) => withoutNulls(row) as unknown as StoredNote);
  };
  return {
    async add({ id: leadId, workspaceId }, { id, text, parentId, authorId, traceparent }) {
      const parents = traceparentsOf([{ id: leadId, traceparent }]);
      const noting = parents === undefined ? Prisma.empty : noteTraceparents(Prisma.sql`${parents}`);
      const [added] = await select<Record<string, unknown>>(
        Prisma.sql`
          WITH locked AS MATERIALIZED (
            SELECT lead.id FROM lead ${noting} WHERE lead.id = ${leadId}::uuid FOR NO KEY UPDATE OF lead
          ), changed AS (
            -- The clocks of two instances may differ, but the times in a history must not decrease.
            UPDATE lead SET version = version + 1, updated_at = GREATEST(${new Date().toISOString()}::timestamptz, updated_at)
            FROM locked WHERE lead.id = locked.id
            RETURNING lead.id, lead.workspace_id, lead.version, lead.updated_at
          ), note AS (
            INSERT INTO lead_note (id, workspace_id, lead_id, author_id, parent_id, text, created_at)
            SELECT ${id}::uuid, workspace_id, id, ${authorId}::uuid, ${parentId ?? null}::uuid, ${text}, updated_at
            FROM changed RETURNING *
          ), noted AS (
            INSERT INTO lead_change (lead_id, version, user_id, fields, created_at)
            SELECT id, version, ${authorId}::uuid, jsonb_build_object('note', jsonb_build_object('to', ${id}::text)), updated_at
            FROM changed
          )
          SELECT ${noteColumns}, changed.version FROM changed CROSS JOIN note JOIN "user" ON "user".id = author_id`,
        { workspaceId },
      );
      if (added === undefined) return undefined;
      const { version, ...note } = withoutNulls(added);
      return { note: note as unknown as StoredNote, version: version as number };
    },

    list({ id, workspaceId }, limit, after) {
      const older =
        after === undefined
          ? Prisma.empty
          : Prisma.sql`AND (note.created_at, note.id) < (${after.at.toISOString()}::timestamptz, ${after.id}::uuid)`;
      return read(
        workspaceId,
        Prisma.sql`lead_id = ${id}::uuid ${older} ORDER BY note.created_at DESC, note.id DESC LIMIT ${limit}`,
      );
    },

    async find({ id, workspaceId }, noteId) {
      const [note] = await read(workspaceId, Prisma.sql`lead_id = ${id}::uuid AND note.id = ${noteId}::uuid`);
      return note;
    },
  };
}
