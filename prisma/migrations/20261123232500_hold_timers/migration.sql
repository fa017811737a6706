-- Hold timers: leads become Approved a time after their creation, unless they are changed or held before.
-- leads: allow constraint: campaigns are few, and the new columns of leads have no values yet

ALTER TABLE "campaign"
    ADD COLUMN "approve_after_seconds" INTEGER,
    ADD CONSTRAINT "campaign_approve_after_seconds_check" CHECK ("approve_after_seconds" BETWEEN 60 AND 31536000);

ALTER TABLE "lead"
    ADD COLUMN "approve_at" TIMESTAMPTZ(3),
    ADD COLUMN "hold_reason" TEXT,
    ADD CONSTRAINT "lead_hold_reason_check" CHECK (char_length("hold_reason") BETWEEN 1 AND 1000) NOT VALID;
CREATE OR REPLACE VIEW "lead_of_workspace" AS SELECT * FROM "lead" WHERE "workspace_id" = "acting_workspace"();

-- A change without a user is the end of a hold time.
ALTER TABLE "lead_change"
    ALTER COLUMN "user_id" DROP NOT NULL,
    ADD CONSTRAINT "lead_change_user_id_check" CHECK ("user_id" IS NOT NULL OR "reason" = 'hold_ended') NOT VALID;

-- Returns when a lead becomes Approved, by the setting of its campaign. A longer setting applies to leads that wait. A
-- shorter one applies to new leads only. Null if the lead has no timer, or its campaign has none any more.
CREATE FUNCTION "approval_time"("approve_at" timestamptz, "created_at" timestamptz, "approve_after_seconds" integer)
    RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN "approve_at" IS NOT NULL AND "approve_after_seconds" IS NOT NULL
        THEN greatest("approve_at", "created_at" + "approve_after_seconds" * interval '1 second') END;

-- The same for a lead of a campaign. Unlike a subselect, which no lead without a timer runs either, its low cost does not
-- mislead the plans of lists.
CREATE FUNCTION "approval_of_lead"("lead_approve_at" timestamptz, "lead_created_at" timestamptz, "of_campaign" uuid)
    RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE COST 1
    RETURN (SELECT "approval_time"("lead_approve_at", "lead_created_at", "campaign"."approve_after_seconds")
        FROM "campaign" WHERE "campaign"."id" = "of_campaign");

-- Locks due leads until the end of the transaction, the longest due first, and returns those to approve by workspace. Leads
-- that another transaction has locked are skipped. The row without a workspace has the leads whose timers were set to
-- another time, or removed, because of the campaign's present setting or because a release without timers changed them.
CREATE FUNCTION "take_due_leads"("most" integer) RETURNS TABLE ("workspace_id" uuid, "ids" uuid[], "late_seconds" float8)
    LANGUAGE sql VOLATILE AS $$
    WITH "taken" AS MATERIALIZED (
        SELECT "lead"."id", "lead"."workspace_id", "lead"."campaign_id", "lead"."approve_at", "lead"."created_at",
            "lead"."version"
        FROM "lead"
        WHERE "lead"."approve_at" <= now() AND "lead"."status" = 'OnHold' AND "lead"."hold_reason" IS NULL
        ORDER BY "lead"."approve_at" LIMIT "most" FOR NO KEY UPDATE SKIP LOCKED
    ), "timed" AS MATERIALIZED (
        SELECT "taken"."id", "taken"."workspace_id", extract(epoch FROM now() - "approve_at")::float8 AS "late_seconds",
            CASE WHEN "version" = 1 OR NOT EXISTS (
                SELECT FROM "lead_change" WHERE "lead_change"."lead_id" = "taken"."id" AND "to_status" IS NOT NULL
            ) THEN "approval_time"("approve_at", "taken"."created_at", "approve_after_seconds") END AS "due_at"
        FROM "taken" JOIN "campaign" ON "campaign"."id" = "taken"."campaign_id"
    ), "moved" AS (
        UPDATE "lead" SET "approve_at" = "timed"."due_at" FROM "timed"
        WHERE "lead"."id" = "timed"."id" AND ("timed"."due_at" <= now()) IS NOT TRUE
        RETURNING "lead"."id"
    )
    SELECT "workspace_id", array_agg("id"), max("late_seconds") FROM "timed" WHERE "due_at" <= now() GROUP BY 1
    UNION ALL
    SELECT NULL, array_agg("id"), 0 FROM "moved" HAVING count(*) > 0
$$;

-- The function runs with the rights of the owner of the tables.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION "take_due_leads"(integer) SECURITY DEFINER SET search_path = %I, pg_temp', current_schema());
    REVOKE EXECUTE ON FUNCTION "take_due_leads"(integer) FROM PUBLIC;
END
$$;
