-- Assignees, call-backs and notes of leads, and the users who have a lead open in the website.
-- leads: allow constraint: endpoints are few, and the other constraints are on new tables

-- Without a foreign key, which Postgres would check for every inserted lead. A background job removes assignees who left.
ALTER TABLE "lead"
    ADD COLUMN "assignee_id" UUID,
    ADD COLUMN "callback_at" TIMESTAMPTZ(3);
CREATE OR REPLACE VIEW "lead_of_workspace" AS SELECT * FROM "lead" WHERE "workspace_id" = "acting_workspace"();

ALTER TABLE "campaign"
    ADD COLUMN "assignee_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
    ADD COLUMN "assignee_turn" INTEGER NOT NULL DEFAULT 0;

CREATE TABLE "lead_note" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "lead_id" UUID NOT NULL,
    "author_id" UUID NOT NULL,
    "parent_id" UUID,
    "text" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lead_note_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "lead_note_text_check" CHECK ("text" <> '' AND length("text") <= 4000)
);
CREATE INDEX "lead_note_lead_id_created_at_id_idx" ON "lead_note"("lead_id", "created_at", "id");
CREATE UNIQUE INDEX "lead_note_lead_id_id_key" ON "lead_note"("lead_id", "id");
ALTER TABLE "lead_note" ADD CONSTRAINT "lead_note_lead_id_fkey" FOREIGN KEY ("lead_id") REFERENCES "lead"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "lead_note" ADD CONSTRAINT "lead_note_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "lead_note" ADD CONSTRAINT "lead_note_lead_id_parent_id_fkey" FOREIGN KEY ("lead_id", "parent_id") REFERENCES "lead_note"("lead_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "lead_note" ENABLE ROW LEVEL SECURITY;

CREATE TABLE "lead_viewer" (
    "lead_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lead_viewer_pkey" PRIMARY KEY ("lead_id","user_id")
);
CREATE INDEX "lead_viewer_workspace_id_user_id_idx" ON "lead_viewer"("workspace_id", "user_id");
ALTER TABLE "lead_viewer" ADD CONSTRAINT "lead_viewer_lead_id_fkey" FOREIGN KEY ("lead_id") REFERENCES "lead"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "lead_viewer" ADD CONSTRAINT "lead_viewer_workspace_id_user_id_fkey" FOREIGN KEY ("workspace_id", "user_id") REFERENCES "member"("workspace_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "lead_viewer" ENABLE ROW LEVEL SECURITY;

-- Removes one assignee who is no longer an owner or manager of the workspace from its oldest leads. The history names the
-- assignee as the user of the change, because it must name a user. Returns the number of leads, and null if another
-- process holds the lock.
CREATE FUNCTION "unassign_leads"("lock" bigint, "most" integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    "gone" record;
    "count" integer;
BEGIN
    IF NOT pg_try_advisory_xact_lock("lock") THEN
        RETURN NULL;
    END IF;
    -- Jumps from assignee to assignee in the index, instead of reading all assigned leads.
    WITH RECURSIVE "assignee" AS (
        (SELECT "workspace_id", "assignee_id" FROM "lead" WHERE "assignee_id" IS NOT NULL ORDER BY 1, 2 LIMIT 1)
        UNION ALL
        SELECT "next".* FROM "assignee" CROSS JOIN LATERAL (
            SELECT "lead"."workspace_id", "lead"."assignee_id" FROM "lead"
            WHERE "lead"."assignee_id" IS NOT NULL
                AND ("lead"."workspace_id", "lead"."assignee_id") > ("assignee"."workspace_id", "assignee"."assignee_id")
            ORDER BY 1, 2 LIMIT 1
        ) AS "next"
    )
    SELECT "assignee".* INTO "gone" FROM "assignee" WHERE NOT EXISTS (
        SELECT FROM "member" WHERE "member"."workspace_id" = "assignee"."workspace_id"
            AND "member"."user_id" = "assignee"."assignee_id" AND "member"."role" <> 'publisher'
    ) LIMIT 1;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    WITH "taken" AS MATERIALIZED (
        SELECT "id" FROM "lead"
        WHERE "workspace_id" = "gone"."workspace_id" AND "assignee_id" = "gone"."assignee_id"
        ORDER BY "created_at", "id" LIMIT "most" FOR NO KEY UPDATE SKIP LOCKED
    ), "changed" AS (
        UPDATE "lead" SET "assignee_id" = NULL, "version" = "version" + 1,
            "updated_at" = greatest(date_trunc('milliseconds', clock_timestamp()), "updated_at")
        FROM "taken" WHERE "lead"."id" = "taken"."id"
        RETURNING "lead"."id", "lead"."version", "lead"."user_id", "lead"."updated_at"
    )
    INSERT INTO "lead_change" ("lead_id", "version", "user_id", "reason", "fields", "created_at")
    SELECT "changed"."id", "changed"."version", coalesce("user"."id", "changed"."user_id"), 'assignee_removed',
        jsonb_build_object('assigneeId', jsonb_build_object('from', "gone"."assignee_id")), "changed"."updated_at"
    FROM "changed" LEFT JOIN "user" ON "user"."id" = "gone"."assignee_id";
    GET DIAGNOSTICS "count" = ROW_COUNT;
    RETURN "count";
END
$$;

-- As before, and assigns new leads of a campaign that has assignees in turn, without duplicates.
CREATE OR REPLACE FUNCTION "note_inserted_leads"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    entry record;
    known_workspace uuid;
    known_campaign uuid;
    known_user uuid;
    assignees uuid[];
BEGIN
    INSERT INTO "lead_outbox" ("lead_ids", "versions")
    SELECT array_agg("id"), array_agg("version") FROM "inserted" HAVING count(*) > 0;

    -- Most installations have no endpoint. This check is cheaper than the statement below, which groups all rows.
    IF EXISTS (SELECT FROM "delivery_endpoint" WHERE "deleted_at" IS NULL) THEN
        INSERT INTO "delivery_outbox" ("workspace_id", "lead_ids", "versions", "is_import")
        SELECT "workspace_id", array_agg("id"), array_agg("version"),
            coalesce(current_setting('leads.importing', true), '') = 'on'
        FROM "inserted"
        WHERE "workspace_id" IN (SELECT "workspace_id" FROM "delivery_endpoint" WHERE "deleted_at" IS NULL)
        GROUP BY "workspace_id";
    END IF;

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
        SELECT "campaign"."assignee_ids" INTO assignees FROM "campaign", "user"
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
        IF cardinality(assignees) > 0 THEN
            SELECT array_agg("assignee_id" ORDER BY "place") INTO assignees
            FROM unnest(assignees) WITH ORDINALITY AS each ("assignee_id", "place")
            JOIN "member" ON "member"."workspace_id" = entry."workspace_id" AND "member"."user_id" = "assignee_id"
                AND "member"."role" <> 'publisher';
        END IF;
        IF cardinality(assignees) > 0 THEN
            WITH arrived AS (
                SELECT "id", row_number() OVER (ORDER BY "created_at", "id") - count(*) OVER () - 1 AS "place"
                FROM "inserted" WHERE "campaign_id" = entry."campaign_id" AND "user_id" = entry."user_id"
                    AND "status" = 'OnHold'
            ), turn AS (
                -- The lock on the campaign gives concurrent statements different turns.
                UPDATE "campaign"
                SET "assignee_turn" = ("assignee_turn" + (SELECT count(*) FROM arrived)) % cardinality(assignees)
                WHERE "id" = entry."campaign_id" RETURNING "assignee_turn" AS "next"
            )
            -- The place of the last lead is -1: its turn is the one before the next. A remainder may be negative here.
            UPDATE "lead" SET "assignee_id" = assignees[
                1 + (("next" + "place")::int % cardinality(assignees) + cardinality(assignees)) % cardinality(assignees)
            ]
            FROM arrived, turn WHERE "lead"."id" = arrived."id";
        END IF;
        known_workspace := entry."workspace_id";
        known_campaign := entry."campaign_id";
        known_user := entry."user_id";
    END LOOP;
    RETURN NULL;
END
$$;

-- Webhooks can subscribe to notes.
ALTER TABLE "delivery_endpoint" DROP CONSTRAINT "delivery_endpoint_event_types_check";
ALTER TABLE "delivery_endpoint" ADD CONSTRAINT "delivery_endpoint_event_types_check" CHECK (
    "event_types" <@ '{lead.created,lead.updated,lead.status_changed,lead.note_added}' AND cardinality("event_types") >= 1
);

CREATE OR REPLACE FUNCTION "plan_deliveries"(max_rows integer) RETURNS integer LANGUAGE plpgsql AS $$
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
        SELECT change.*, "lead"."campaign_id", "lead"."user_id",
            CASE WHEN change."version" > 1 THEN entry."to_status"
                WHEN "lead"."duplicate_of" IS NULL THEN 'OnHold'::lead_status ELSE 'Trashed' END AS "to_status",
            CASE WHEN change."version" = 1 THEN 'lead.created'
                WHEN entry."to_status" IS NOT NULL THEN 'lead.status_changed'
                WHEN entry."fields" ? 'note' THEN 'lead.note_added'
                ELSE 'lead.updated' END AS "type"
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
            AND (endpoint."campaign_ids" = '{}' OR event."campaign_id" = ANY (endpoint."campaign_ids"))
            AND CASE endpoint."kind" WHEN 'webhook' THEN
                event."type" <> 'lead.status_changed' OR endpoint."statuses" = '{}'
                    OR event."to_status" = ANY (endpoint."statuses")
            ELSE
                event."to_status" = ANY (endpoint."statuses")
                AND (endpoint."user_id" IS NULL OR endpoint."user_id" = event."user_id")
                AND (endpoint."campaign_ids" <> '{}' OR NOT EXISTS (
                    SELECT FROM "delivery_endpoint" AS special
                    WHERE special."workspace_id" = event."workspace_id" AND special."deleted_at" IS NULL
                        AND special."kind" = 'postback'
                        AND special."user_id" IS NOT DISTINCT FROM endpoint."user_id"
                        AND event."campaign_id" = ANY (special."campaign_ids")
                        AND event."to_status" = ANY (special."statuses")
                ))
            END
        ON CONFLICT DO NOTHING
    )
    SELECT count(*) INTO replaced FROM taken;
    RETURN replaced;
END
$$;

-- The functions run with the rights of the owner of the tables.
DO $$
DECLARE
    "named" regprocedure;
BEGIN
    FOREACH "named" IN ARRAY
        ARRAY['unassign_leads(bigint, integer)', 'note_inserted_leads()', 'plan_deliveries(integer)']::regprocedure[]
    LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', "named", current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', "named");
    END LOOP;
END
$$;
