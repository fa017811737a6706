import type { Database } from './client.ts';
import { Prisma } from './generated/client.ts';
import { aggregationLock, byStatus, byStatusOfS1, counts } from './lead-tallies.ts';

/**
 * The maximum number of `s1` values that are counted separately, for each workspace or user and day. The first values of
 * a day are kept, which are mostly the frequent ones. The maximum limits the tallies if each lead has a different `s1`.
 */
const maxS1 = 100;

/** The two owners of each count: the workspace and the user. */
const owners = Prisma.sql`LATERAL (VALUES (workspace_id), (user_id)) AS owner (of_id)`;

/**
 * Adds the oldest entries of lead counts to the tallies. It may run at any time and in several instances.
 *
 * The parts of the statement are not joined, because the planner's statistics are mostly taken while no entries wait.
 * Postgres would then expect one row instead of thousands, and choose a nested loop.
 *
 * @param limit the maximum number of leads that the entries count.
 * @returns the number of leads; 0 while another instance aggregates.
 */
export async function aggregateCounts(select: Database['select'], limit: number): Promise<number> {
  const statement = Prisma.sql`
    WITH ${aggregationLock}, oldest AS (
      SELECT id, leads, sum(abs(leads)) OVER (ORDER BY id) AS up_to FROM (
        SELECT id, leads FROM lead_tally_entry
        WHERE (SELECT is_acquired FROM aggregation_lock) ORDER BY id LIMIT ${limit}
      ) AS waiting
    ), taken AS (
      DELETE FROM lead_tally_entry
      WHERE id = ANY (ARRAY(SELECT id FROM oldest WHERE up_to - abs(leads) < ${limit}))
      RETURNING *, date_bin('1 day', at, '2000-01-01T00:00:00Z') AS day
    ), s1_changes AS MATERIALIZED (
      SELECT workspace_id, user_id, day, value, ${byStatusOfS1} FROM taken, unnest(s1) AS value
    ), changed_s1 AS (
      -- The changes of each s1 of an owner and day, and whether the s1 has a tally of its own already.
      SELECT
        workspace_id, of_id, day, value, sum(on_hold) AS on_hold, sum(trashed) AS trashed, sum(paid) AS paid,
        sum(approved) AS approved,
        EXISTS (
          SELECT FROM lead_tally AS existing
          WHERE existing.workspace_id = s1_changes.workspace_id AND existing.of_id = owner.of_id
            AND existing.kind = 's1' AND existing.at = s1_changes.day AND existing.value = s1_changes.value
        ) AS is_counted
      FROM s1_changes, ${owners}
      GROUP BY workspace_id, of_id, day, value
    ), ranked_s1 AS (
      SELECT *, row_number() OVER (
        PARTITION BY workspace_id, of_id, day, is_counted ORDER BY on_hold + trashed + paid + approved DESC, value
      ) AS rank
      FROM changed_s1
    ), counted_s1 AS (
      -- New values get a tally of their own in the order of their rank, until the day has the maximum.
      SELECT *,
        is_counted OR rank <= max(room) OVER (PARTITION BY workspace_id, of_id, day, is_counted) AS has_own_tally
      FROM (
        SELECT *,
          -- Counted for the first value only, because a count reads all rows of the day.
          CASE WHEN NOT is_counted AND rank = 1 THEN ${maxS1} - (
            SELECT count(*) FROM lead_tally AS existing
            WHERE existing.workspace_id = ranked_s1.workspace_id AND existing.of_id = ranked_s1.of_id
              AND existing.kind = 's1' AND existing.at = ranked_s1.day
          ) END AS room
        FROM ranked_s1
      ) AS with_room
    ), added AS (
      INSERT INTO lead_tally AS tally (workspace_id, of_id, kind, at, value, ${counts})
      SELECT
        workspace_id, of_id, kind::lead_tally_kind, at, value, sum(on_hold), sum(trashed), sum(paid),
        sum(approved)
      FROM (
        SELECT workspace_id, of_id, kind, counted.at, value, ${byStatus('leads')}
        FROM taken, ${owners},
          LATERAL (VALUES
            ('time', taken.at, ''), ('campaign', day, campaign_id::text), ('landing_page', day, lp_name)
          ) AS counted (kind, at, value)
        WHERE value IS NOT NULL
        UNION ALL
        SELECT
          workspace_id, of_id, CASE WHEN has_own_tally THEN 's1' ELSE 's1_others' END, day,
          CASE WHEN has_own_tally THEN value ELSE '' END, ${counts}
        FROM counted_s1
      ) AS parts
      GROUP BY workspace_id, of_id, kind, at, value
      ON CONFLICT (workspace_id, of_id, kind, at, value) DO UPDATE SET
        on_hold = tally.on_hold + excluded.on_hold, trashed = tally.trashed + excluded.trashed,
        paid = tally.paid + excluded.paid, approved = tally.approved + excluded.approved
    )
    SELECT coalesce(sum(abs(leads)), 0)::int AS added FROM taken`;
  // Postgres takes longer to plan the statement than to run it.
  const [row] = await select<{ added: number }>(statement, { name: 'aggregate_counts' });
  return row?.added ?? 0;
}
