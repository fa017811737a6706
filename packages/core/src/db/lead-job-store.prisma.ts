import { type LeadJob, maxListedRefusals, personalFilters, removedFilter } from '../lead/lead-job.schema.ts';
import type { ClaimedJob, LeadJobStore } from '../lead/lead-job-store.ts';
import { LeadsError } from '../errors.ts';
import { requireRoom } from '../limits/caps.ts';
import { newId, uuidPattern } from '../uuid.ts';
import type { Database, Transaction } from './client.ts';
import { Prisma } from './generated/client.ts';
import { lockWorkspace } from './lock-workspace.ts';
import { withoutNulls } from './without-nulls.ts';

/** How long a finished job is kept, in days. */
const keptDays = 30;

/** The filters of a job that has ended, without personal data: no erasure reads jobs. */
const endedFilters = Prisma.sql`filters || (
  SELECT coalesce(jsonb_object_agg(name, ${removedFilter}::text), '{}')
  FROM jsonb_object_keys(filters) AS name WHERE name = ANY(${personalFilters}::text[])
)`;

const columns = Prisma.sql`
  id, action, filters, status, reason, assignee_id AS "assigneeId", undoes,
  (
    SELECT undo.id FROM lead_job AS undo
    WHERE undo.workspace_id = lead_job.workspace_id AND undo.undoes = lead_job.id AND undo.state IN ('undoing', 'done')
    LIMIT 1
  ) AS "undoneBy",
  CASE state WHEN 'undoing' THEN 'running' ELSE state END AS state, user_id AS "userId", total, changed, refused, refusals,
  created_at AS "createdAt", finished_at AS "finishedAt"`;

function toJob(row: object): LeadJob {
  const { createdAt, finishedAt, ...job } = withoutNulls(row as Record<string, unknown>) as unknown as Omit<
    LeadJob,
    'createdAt' | 'finishedAt'
  > & { createdAt: Date; finishedAt?: Date };
  return {
    ...job,
    createdAt: createdAt.toISOString(),
    ...(finishedAt !== undefined && { finishedAt: finishedAt.toISOString() }),
  };
}

/** Creates the store of jobs in Postgres. */
export function createLeadJobStore({ select, transaction }: Database): LeadJobStore {
  const find: LeadJobStore['find'] = async (workspaceId, id) => {
    if (!uuidPattern.test(id)) return undefined;
    const [row] = await select<object>(
      Prisma.sql`SELECT ${columns} FROM lead_job WHERE workspace_id = ${workspaceId}::uuid AND id = ${id}::uuid`,
      { workspaceId },
    );
    return row && toJob(row);
  };
  /** Limits a statement to a job whose lease still holds. */
  const leased = ({ id, leaseId }: ClaimedJob) =>
    Prisma.sql`id = ${id}::uuid AND lease_id = ${leaseId}::uuid`;

  return {
    start: (job) =>
      transaction(
        async (tx) => {
          const { id, workspaceId, userId, action, filters } = job;
          const { status = null, reason = null, assigneeId = null } = job;
          await lockWorkspace(tx, workspaceId);
          const repeated = await tx.$queryRaw<object[]>`
            SELECT ${columns} FROM lead_job WHERE workspace_id = ${workspaceId}::uuid AND id = ${id}::uuid`;
          if (repeated[0] !== undefined) return toJob(repeated[0]);
          await requireRoomForJob(tx, workspaceId);
          const [row] = await tx.$queryRaw<object[]>`
            INSERT INTO lead_job (id, workspace_id, user_id, action, filters, status, reason, assignee_id)
            VALUES (
              ${id}::uuid, ${workspaceId}::uuid, ${userId}::uuid, ${action}, ${JSON.stringify(filters)}::jsonb,
              ${status}::lead_status, ${reason}, ${assigneeId}::uuid
            ) RETURNING ${columns}`;
          return toJob(row as object);
        },
        { workspaceId: job.workspaceId },
      ),

    startUndo: ({ id, workspaceId, userId, undoes }) =>
      transaction(
        async (tx) => {
          await lockWorkspace(tx, workspaceId);
          const [repeated] = await tx.$queryRaw<object[]>`
            SELECT ${columns} FROM lead_job
            WHERE workspace_id = ${workspaceId}::uuid AND undoes = ${undoes}::uuid AND state IN ('undoing', 'done')`;
          if (repeated !== undefined) return toJob(repeated);
          await requireRoomForJob(tx, workspaceId);
          const [row] = await tx.$queryRaw<object[]>`
            INSERT INTO lead_job (id, workspace_id, user_id, action, filters, status, reason, assignee_id, undoes, state)
            SELECT ${id}::uuid, workspace_id, ${userId}::uuid, action, filters, status, reason, assignee_id, id, 'undoing'
            FROM lead_job WHERE workspace_id = ${workspaceId}::uuid AND id = ${undoes}::uuid
            RETURNING ${columns}`;
          if (row === undefined) throw new LeadsError('not_found');
          return toJob(row);
        },
        { workspaceId },
      ),

    async list(workspaceId, limit) {
      const rows = await select<object>(
        Prisma.sql`
          SELECT ${columns} FROM lead_job WHERE workspace_id = ${workspaceId}::uuid
          ORDER BY created_at DESC, id LIMIT ${limit}`,
        { workspaceId },
      );
      return rows.map(toJob);
    },

    find,

    async cancel(workspaceId, id) {
      if (!uuidPattern.test(id)) return undefined;
      const [row] = await select<object>(
        Prisma.sql`
          UPDATE lead_job SET state = 'cancelled', finished_at = now(), filters = ${endedFilters}
          WHERE workspace_id = ${workspaceId}::uuid AND id = ${id}::uuid AND finished_at IS NULL
          RETURNING ${columns}`,
        { workspaceId },
      );
      return row === undefined ? find(workspaceId, id) : toJob(row);
    },

    async claim(leaseMs) {
      const [row] = await select<Record<string, unknown>>(Prisma.sql`
        WITH due AS MATERIALIZED (
          SELECT id FROM lead_job AS job WHERE finished_at IS NULL AND next_step_at <= now() AND NOT EXISTS (
            SELECT FROM lead_job AS older WHERE older.workspace_id = job.workspace_id AND older.finished_at IS NULL
              AND (older.created_at, older.id) < (job.created_at, job.id)
          ) AND NOT EXISTS (
            -- A cancelled job finishes its batch in progress before it is undone.
            SELECT FROM lead_job AS undone WHERE undone.id = job.undoes AND undone.state = 'cancelled'
              AND undone.lease_id IS NOT NULL AND undone.next_step_at > now()
          )
          ORDER BY next_step_at LIMIT 1 FOR UPDATE SKIP LOCKED
        )
        UPDATE lead_job AS job SET
          lease_id = ${newId()}::uuid, next_step_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
        FROM due JOIN lead_job AS same ON same.id = due.id
          -- A request can start a job while its user is removed. The job then has no role.
          LEFT JOIN member ON member.workspace_id = same.workspace_id AND member.user_id = same.user_id
        WHERE job.id = due.id
        RETURNING job.id, job.workspace_id AS "workspaceId", job.user_id AS "userId", job.action, job.filters,
          job.status, job.reason, job.assignee_id AS "assigneeId", job.created_at AS "createdAt", job.lease_id AS "leaseId", job.total, job.planned,
          role::text AS role, job.undoes, job.after_time AS "afterTime", job.after_id AS "afterId"`);
      if (row === undefined) return undefined;
      const { afterTime, ...job } = withoutNulls(row);
      const after =
        afterTime === undefined ? undefined : { time: afterTime as Date, id: job['afterId'] as string };
      return { ...job, after } as unknown as ClaimedJob;
    },

    async plan(job, leads, after, total) {
      const rows = await select(
        Prisma.sql`
          UPDATE lead_job SET
            planned = ${JSON.stringify(leads)}::jsonb, total = ${total ?? null}::int,
            after_time = ${after.time.toISOString()}::timestamptz, after_id = ${after.id}::uuid
          WHERE ${leased(job)} AND state = 'running' RETURNING id`,
        { workspaceId: job.workspaceId },
      );
      return rows.length > 0;
    },

    async record(job, { changed, refusals, total, afterId }) {
      await select(
        Prisma.sql`
          UPDATE lead_job SET
            changed = changed + ${changed}, refused = refused + ${refusals.length}, planned = NULL, lease_id = NULL,
            next_step_at = now(), total = coalesce(${total ?? null}::int, total), after_id = coalesce(${afterId ?? null}::uuid, after_id),
            refusals = jsonb_path_query_array(
              refusals || ${JSON.stringify(refusals)}::jsonb, ${`$[0 to ${maxListedRefusals - 1}]`}::jsonpath)
          WHERE ${leased(job)}`,
        { workspaceId: job.workspaceId },
      );
    },

    async delay(job, delayMs) {
      await select(
        Prisma.sql`
          UPDATE lead_job SET
            lease_id = NULL, next_step_at = now() + ${delayMs}::float8 * interval '1 millisecond'
          WHERE ${leased(job)}`,
        { workspaceId: job.workspaceId },
      );
    },

    async deleteExpired() {
      await select(
        Prisma.sql`DELETE FROM lead_job WHERE finished_at < now() - ${keptDays} * interval '1 day' RETURNING id`,
      );
    },

    async finish(job, state, total) {
      await select(
        Prisma.sql`
          UPDATE lead_job SET
            state = ${state}, total = ${total ?? null}::int, finished_at = now(), planned = NULL, filters = ${endedFilters}
          WHERE ${leased(job)} AND finished_at IS NULL`,
        { workspaceId: job.workspaceId },
      );
    },
  };
}

/** @throws LeadsError `limit_reached` if too many jobs of the workspace run. */
async function requireRoomForJob(tx: Transaction, workspaceId: string): Promise<void> {
  requireRoom('runningJobs', await tx.leadJob.count({ where: { workspaceId, finishedAt: null } }));
}
