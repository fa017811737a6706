-- Returns changes of a job, or of an assignment of several leads, by lead, with what an undo needs of each lead. It returns
-- only leads of the acting workspace. Row-level security would look up all leads of the workspace for each batch.
CREATE FUNCTION "changes_of_bulk"("bulk" uuid, "after" uuid, "most" integer) RETURNS TABLE (
    "id" uuid, "from_status" "lead_status", "to_status" "lead_status", "fields" jsonb, "reason_before" text,
    "status_now" "lead_status", "version" integer, "newest_bulk_id" uuid, "is_in_payment" boolean
) LANGUAGE sql STABLE ROWS 200 AS $$
    WITH "made" AS MATERIALIZED (
        SELECT * FROM "lead_change" WHERE "lead_change"."bulk_id" = "bulk" AND "lead_change"."lead_id" > "after"
        ORDER BY "lead_change"."lead_id" LIMIT "most"
    )
    SELECT "made"."lead_id", "made"."from_status", "made"."to_status", "made"."fields",
        (
            SELECT "earlier"."reason" FROM "lead_change" AS "earlier"
            WHERE "earlier"."lead_id" = "made"."lead_id" AND "earlier"."version" < "made"."version"
                AND "earlier"."to_status" IS NOT NULL
            ORDER BY "earlier"."version" DESC LIMIT 1
        ),
        "lead"."status", "lead"."version", "newest"."bulk_id",
        EXISTS (
            SELECT FROM "payment_lead" AS "paying"
            WHERE "paying"."lead_id" = "lead"."id" AND "paying"."state" = ANY (ARRAY['planned'::text, 'paid'::text])
                -- An owner has changed the lead back to Approved: the next payment takes it over.
                AND ("paying"."state" = 'planned' OR "lead"."status" = 'Paid')
        )
    FROM "made"
        JOIN "lead" ON "lead"."id" = "made"."lead_id" AND "lead"."workspace_id" = "acting_workspace"()
        LEFT JOIN "lead_change" AS "newest"
            ON "newest"."lead_id" = "lead"."id" AND "newest"."version" = "lead"."version"
    ORDER BY "made"."lead_id"
$$;

-- The function runs with the rights of the owner of the tables. It reads the changes in the order of their index, because
-- the statistics of a new job are old.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION "changes_of_bulk"(uuid, uuid, integer) SECURITY DEFINER SET search_path = %I, pg_temp', current_schema());
    ALTER FUNCTION "changes_of_bulk"(uuid, uuid, integer) SET enable_bitmapscan = off;
    REVOKE EXECUTE ON FUNCTION "changes_of_bulk"(uuid, uuid, integer) FROM PUBLIC;
END
$$;
