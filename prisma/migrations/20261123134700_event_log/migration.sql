-- The event stream of installations without NATS. The relay moves the rows of "lead_outbox" here, in the order in which
-- events are published, instead of publishing them to NATS. The outbox keeps its columns and indexes, so that an insert of
-- a lead costs the same, and the release before works with it.
CREATE TABLE "lead_event_log" (
    "position" BIGINT NOT NULL,
    "outbox_id" BIGINT NOT NULL,
    "workspace_ids" UUID[] NOT NULL,
    "lead_ids" UUID[] NOT NULL,
    "versions" INTEGER[] NOT NULL,
    "trace_parents" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lead_event_log_pkey" PRIMARY KEY ("position")
);

-- For the start at a time, and for the deletion of expired rows.
CREATE INDEX "lead_event_log_published_at_idx" ON "lead_event_log"("published_at");

-- Expired rows are deleted all the time. Without this, dead rows make the oldest row slow to find.
ALTER TABLE "lead_event_log"
    SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_threshold = 5000);

-- One row while the log is in use. Its time of creation is in each event id, so that ids of another log are detected.
CREATE TABLE "lead_event_log_state" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_position" BIGINT NOT NULL,
    "last_published_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lead_event_log_state_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "lead_event_log_state_id_check" CHECK ("id" = 1)
);

-- Moves the oldest rows of the outbox to the log: about as many events as asked for, in whole rows. Returns their number, or
-- null while another transaction has the lock. The log may be written by this function only.
CREATE FUNCTION "log_events"("lock" bigint, "most" integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    "before" bigint;
    "after" bigint;
BEGIN
    IF NOT pg_try_advisory_xact_lock("lock") THEN
        RETURN NULL;
    END IF;
    INSERT INTO "lead_event_log_state" ("created_at", "last_position", "last_published_at")
    SELECT clock_timestamp(), coalesce(max("position"), 0), greatest(clock_timestamp(), max("published_at"))
    FROM "lead_event_log"
    ON CONFLICT DO NOTHING;

    -- Each statement of this function has a snapshot of its own, so this one sees what the last holder of the lock committed.
    -- Uncommitted rows are skipped. The order holds: no later event of the same leads can be committed before them.
    WITH "state" AS MATERIALIZED (
        -- Read after the snapshot is taken: no row is published before its commit.
        SELECT "last_position", greatest(clock_timestamp(), "last_published_at") AS "at" FROM "lead_event_log_state"
    ), "taken" AS (
        DELETE FROM "lead_outbox" USING "state" WHERE "id" IN (
            SELECT "id" FROM (
                SELECT "id", "events", sum("events") OVER (ORDER BY "id") AS "up_to" FROM (
                    SELECT "id", cardinality("lead_ids") AS "events" FROM "lead_outbox" ORDER BY "id" LIMIT 500
                ) AS "oldest"
            ) AS "summed" WHERE "up_to" - "events" < "most"
        )
        RETURNING "lead_outbox".*
    ), "owner" AS (
        SELECT "taken"."id", array_agg(DISTINCT "workspace_id") AS "workspace_ids"
        FROM "taken", unnest("lead_ids") AS "each" ("lead_id") JOIN "lead" ON "lead"."id" = "lead_id"
        GROUP BY 1
    ), "added" AS (
        INSERT INTO "lead_event_log"
            ("position", "outbox_id", "workspace_ids", "lead_ids", "versions", "trace_parents", "created_at", "published_at")
        SELECT "last_position" + sum(greatest(cardinality("lead_ids"), 1)) OVER (ORDER BY "taken"."id"), "taken"."id",
            coalesce("workspace_ids", '{}'), "lead_ids", "versions", "trace_parents", "created_at", "at"
        FROM "state", "taken" LEFT JOIN "owner" ON "owner"."id" = "taken"."id"
        RETURNING "position", "published_at"
    )
    UPDATE "lead_event_log_state" AS "changed"
    SET "last_position" = "newest"."position", "last_published_at" = "newest"."published_at"
    FROM "state", (SELECT max("position") AS "position", max("published_at") AS "published_at" FROM "added") AS "newest"
    WHERE "newest"."position" IS NOT NULL
    RETURNING "state"."last_position", "changed"."last_position" INTO "before", "after";
    RETURN coalesce("after" - "before", 0);
END
$$;

-- Returns logged rows to the outbox, newest first, because NATS is used from now on. Its ids, and with them the order of
-- events, are kept. The caller holds the lock of the outbox. Returns whether rows are left in the log. When it
-- is empty, its state is deleted, so that event ids of the log stay unknown if another one begins.
CREATE FUNCTION "return_logged_events"("most" integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    "left_over" boolean;
BEGIN
    WITH "returned" AS (
        DELETE FROM "lead_event_log" WHERE "position" IN (
            SELECT "position" FROM "lead_event_log" ORDER BY "position" DESC LIMIT "most"
        )
        RETURNING *
    )
    INSERT INTO "lead_outbox" ("id", "lead_ids", "versions", "created_at", "trace_parents")
    SELECT "outbox_id", "lead_ids", "versions", "created_at", "trace_parents" FROM "returned";
    "left_over" := EXISTS (SELECT FROM "lead_event_log");
    IF NOT "left_over" THEN
        DELETE FROM "lead_event_log_state";
    END IF;
    RETURN "left_over";
END
$$;

-- The services may call these functions, and have no right to write the tables.
DO $$
DECLARE
    "named" regprocedure;
BEGIN
    FOREACH "named" IN ARRAY
        ARRAY['log_events(bigint, integer)', 'return_logged_events(integer)']::regprocedure[]
    LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', "named", current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', "named");
    END LOOP;
END
$$;
