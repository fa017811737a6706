-- Endpoints that receive the events of leads, the queue of deliveries to them, and its log.
CREATE TABLE "delivery_endpoint" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "description" TEXT,
    "event_types" TEXT[] NOT NULL,
    "statuses" "lead_status"[] NOT NULL,
    "campaign_ids" UUID[] NOT NULL,
    "includes_imports" BOOLEAN NOT NULL DEFAULT false,
    "headers" TEXT,
    "header_names" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "secret" TEXT NOT NULL,
    "previous_secret" TEXT,
    "previous_secret_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "enabled_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "disabled_at" TIMESTAMPTZ(3),
    "disabled_reason" TEXT,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "last_success_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "delivery_endpoint_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "delivery_outbox" (
    "id" BIGSERIAL NOT NULL,
    "workspace_id" UUID NOT NULL,
    "lead_ids" UUID[] NOT NULL,
    "versions" INTEGER[] NOT NULL,
    "is_import" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "delivery_outbox_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "delivery" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "lead_id" UUID,
    "version" INTEGER,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "lease_id" UUID,
    "last_attempt_at" TIMESTAMPTZ(3),
    "duration_ms" INTEGER,
    "status_code" INTEGER,
    "error" TEXT,
    "answer" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "delivery_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "delivery_endpoint_workspace_id_idx" ON "delivery_endpoint"("workspace_id");
CREATE INDEX "delivery_endpoint_id_created_at_id_idx" ON "delivery"("endpoint_id", "created_at" DESC, "id" DESC);
CREATE INDEX "delivery_endpoint_id_next_attempt_at_idx" ON "delivery"("endpoint_id", "next_attempt_at") WHERE (state = 'waiting');
CREATE UNIQUE INDEX "delivery_lead_id_version_endpoint_id_key" ON "delivery"("lead_id", "version", "endpoint_id");

ALTER TABLE "delivery_endpoint" ADD CONSTRAINT "delivery_endpoint_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "delivery_endpoint"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "delivery_endpoint"
    ADD CONSTRAINT "delivery_endpoint_url_check" CHECK (length("url") BETWEEN 1 AND 2048),
    ADD CONSTRAINT "delivery_endpoint_event_types_check" CHECK (
        "event_types" <@ '{lead.created,lead.updated,lead.status_changed}' AND cardinality("event_types") >= 1
    ),
    ADD CONSTRAINT "delivery_endpoint_previous_secret_check" CHECK (
        ("previous_secret" IS NULL) = ("previous_secret_until" IS NULL)
    ),
    ADD CONSTRAINT "delivery_endpoint_disabled_check" CHECK (
        ("disabled_at" IS NULL) = ("disabled_reason" IS NULL)
        AND "disabled_reason" IN ('user', 'receiver', 'failing')
    ),
    ADD CONSTRAINT "delivery_endpoint_failures_check" CHECK (
        "failures" >= 0 AND ("failures" = 0) = ("failing_since" IS NULL)
    );
ALTER TABLE "delivery"
    ADD CONSTRAINT "delivery_lead_check" CHECK (("lead_id" IS NULL) = ("version" IS NULL)),
    ADD CONSTRAINT "delivery_state_check" CHECK ("state" IN ('waiting', 'delivered', 'failed', 'skipped')),
    ADD CONSTRAINT "delivery_next_attempt_at_check" CHECK (("state" = 'waiting') = ("next_attempt_at" IS NOT NULL)),
    ADD CONSTRAINT "delivery_lease_id_check" CHECK ("lease_id" IS NULL OR "state" = 'waiting'),
    ADD CONSTRAINT "delivery_answer_check" CHECK (length("answer") <= 1024);

-- Rows are inserted and deleted at a high rate. Dead rows slow down the queries for the oldest rows.
ALTER TABLE "delivery_outbox"
    SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_threshold = 5000);
ALTER TABLE "delivery" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- As before, and also notes the leads of workspaces with an endpoint in "delivery_outbox".
CREATE OR REPLACE FUNCTION "note_inserted_leads"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    entry record;
    known_workspace uuid;
    known_campaign uuid;
    known_user uuid;
BEGIN
    INSERT INTO "lead_outbox" ("lead_ids", "versions")
    SELECT array_agg("id"), array_agg("version") FROM "inserted" HAVING count(*) > 0;

    INSERT INTO "delivery_outbox" ("workspace_id", "lead_ids", "versions", "is_import")
    SELECT "workspace_id", array_agg("id"), array_agg("version"),
        coalesce(current_setting('leads.importing', true), '') = 'on'
    FROM "inserted"
    WHERE "workspace_id" IN (SELECT "workspace_id" FROM "delivery_endpoint" WHERE "deleted_at" IS NULL)
    GROUP BY "workspace_id";

    FOR entry IN
        INSERT INTO "lead_tally_entry"
            ("workspace_id", "user_id", "campaign_id", "lp_name", "at", "status", "leads", "s1")
        SELECT "workspace_id", "user_id", "campaign_id", "lead_tally_name"("lp_name"), "lead_tally_time"("created_at"),
            "status", count(*), array_remove(array_agg("s1"), NULL)
        FROM "inserted" GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 3, 2
        RETURNING "workspace_id", "campaign_id", "user_id"
    LOOP
        CONTINUE WHEN entry."workspace_id" = known_workspace AND entry."campaign_id" = known_campaign
            AND entry."user_id" = known_user;
        -- Instead of a foreign key, which would check every row. The found rows are locked, so that no other transaction
        -- deletes them before the commit. They are locked in one order, so that two statements cannot deadlock.
        PERFORM FROM "campaign", "user"
            WHERE "campaign"."workspace_id" = entry."workspace_id" AND "campaign"."id" = entry."campaign_id"
                AND "user"."id" = entry."user_id"
            FOR KEY SHARE;
        IF NOT FOUND THEN
            IF EXISTS (SELECT FROM "user" WHERE "id" = entry."user_id") THEN
                RAISE EXCEPTION 'A lead is of a campaign that its workspace does not have'
                    USING ERRCODE = 'foreign_key_violation', TABLE = 'lead', CONSTRAINT = 'lead_of_campaign';
            END IF;
            RAISE EXCEPTION 'A lead is of a user that there is not'
                USING ERRCODE = 'foreign_key_violation', TABLE = 'lead', CONSTRAINT = 'lead_of_user';
        END IF;
        known_workspace := entry."workspace_id";
        known_campaign := entry."campaign_id";
        known_user := entry."user_id";
    END LOOP;
    RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION "note_changed_leads"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "lead_outbox" ("lead_ids", "versions")
    SELECT array_agg("lead_id"), array_agg("version") FROM "inserted" HAVING count(*) > 0;
    -- Most installations have no endpoint. This check is cheaper than the join below.
    IF EXISTS (SELECT FROM "delivery_endpoint" WHERE "deleted_at" IS NULL) THEN
        INSERT INTO "delivery_outbox" ("workspace_id", "lead_ids", "versions", "is_import")
        SELECT "lead"."workspace_id", array_agg("lead"."id"), array_agg("inserted"."version"), false
        FROM "inserted" JOIN "lead" ON "lead"."id" = "inserted"."lead_id"
        WHERE "lead"."workspace_id" IN (SELECT "workspace_id" FROM "delivery_endpoint" WHERE "deleted_at" IS NULL)
        GROUP BY "lead"."workspace_id";
    END IF;
    RETURN NULL;
END
$$;

-- Replaces the oldest rows of "delivery_outbox" by deliveries. Returns the number of replaced rows. Any number of workers
-- may call it at the same time.
CREATE FUNCTION "plan_deliveries"(max_rows integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    replaced integer;
BEGIN
    WITH taken AS (
        DELETE FROM "delivery_outbox" WHERE "id" IN (
            SELECT "id" FROM "delivery_outbox" ORDER BY "id" LIMIT max_rows FOR UPDATE SKIP LOCKED
        ) RETURNING *
    ), change AS (
        SELECT "workspace_id", "is_import", each."lead_id", each."version"
        FROM taken CROSS JOIN LATERAL unnest("lead_ids", "versions") AS each ("lead_id", "version")
    ), event AS (
        SELECT change.*, "lead"."campaign_id", entry."to_status",
            CASE WHEN change."version" = 1 THEN 'lead.created'
                WHEN entry."to_status" IS NULL THEN 'lead.updated'
                ELSE 'lead.status_changed' END AS "type"
        FROM change
        -- Without an erased lead. The lock makes a concurrent erasure wait and then delete these deliveries, too.
        JOIN "lead" ON "lead"."id" = change."lead_id"
        LEFT JOIN "lead_change" AS entry
            ON entry."lead_id" = change."lead_id" AND entry."version" = change."version"
        -- In the order in which an erasure locks them.
        ORDER BY "lead"."id" FOR KEY SHARE OF "lead"
    ), planned AS (
        INSERT INTO "delivery"
            ("id", "workspace_id", "endpoint_id", "type", "lead_id", "version", "state", "next_attempt_at")
        SELECT gen_random_uuid(), event."workspace_id", endpoint."id", event."type", event."lead_id", event."version",
            CASE WHEN endpoint."disabled_at" IS NULL THEN 'waiting' ELSE 'skipped' END,
            CASE WHEN endpoint."disabled_at" IS NULL THEN now() END
        FROM event JOIN "delivery_endpoint" AS endpoint
            ON endpoint."workspace_id" = event."workspace_id" AND endpoint."deleted_at" IS NULL
            AND event."type" = ANY (endpoint."event_types")
            AND (endpoint."includes_imports" OR NOT event."is_import")
            AND (event."type" <> 'lead.status_changed' OR endpoint."statuses" = '{}'
                OR event."to_status" = ANY (endpoint."statuses"))
            AND (endpoint."campaign_ids" = '{}' OR event."campaign_id" = ANY (endpoint."campaign_ids"))
        ON CONFLICT DO NOTHING
    )
    SELECT count(*) INTO replaced FROM taken;
    RETURN replaced;
END
$$;

-- As before, and also deletes the deliveries of the leads.
CREATE OR REPLACE FUNCTION "erase_leads"(ids uuid[], OUT erased_leads bigint, OUT erased_changes bigint)
    LANGUAGE plpgsql AS $$
BEGIN
    -- Not as a setting of the function, which only a superuser may give it.
    PERFORM set_config('leads.erasing', 'on', true);
    -- The status of a counted lead must not change before the lead is deleted.
    PERFORM FROM "lead" WHERE "id" = ANY (ids) ORDER BY "id" FOR UPDATE;
    INSERT INTO "lead_tally_erased"
        ("workspace_id", "user_id", "campaign_id", "lp_name", "at", "status", "leads", "with_s1")
    SELECT "workspace_id", "user_id", "campaign_id", "lead_tally_name"("lp_name"), "lead_tally_time"("created_at"),
        "status", count(*), count("s1")
    FROM "lead" WHERE "id" = ANY (ids) GROUP BY 1, 2, 3, 4, 5, 6;
    DELETE FROM "delivery" WHERE "lead_id" = ANY (ids);
    DELETE FROM "lead_change" WHERE "lead_id" = ANY (ids);
    GET DIAGNOSTICS erased_changes = ROW_COUNT;
    DELETE FROM "lead" WHERE "id" = ANY (ids);
    GET DIAGNOSTICS erased_leads = ROW_COUNT;
    PERFORM set_config('leads.erasing', '', true);
END
$$;

-- These functions run with the rights of the owner of the tables, whoever calls or triggers them.
DO $$
DECLARE
    named regprocedure;
BEGIN
    FOREACH named IN ARRAY
        ARRAY['note_inserted_leads()', 'note_changed_leads()', 'plan_deliveries(integer)']::regprocedure[]
    LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', named, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', named);
    END LOOP;
END
$$;
