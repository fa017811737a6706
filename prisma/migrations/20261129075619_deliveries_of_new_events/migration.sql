-- Endpoints have the times of Postgres, as the rows of the outbox that are compared with them.
ALTER TABLE "delivery_endpoint"
    ALTER COLUMN "created_at" SET DEFAULT transaction_timestamp(),
    ALTER COLUMN "enabled_at" SET DEFAULT transaction_timestamp();

-- Events can wait in the outbox. An endpoint gets none from before its creation, and skips those from before its enabling.
CREATE OR REPLACE FUNCTION "plan_deliveries"(max_rows integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    replaced integer;
BEGIN
    WITH taken AS (
        DELETE FROM "delivery_outbox" WHERE "id" IN (
            SELECT "id" FROM "delivery_outbox" ORDER BY "id" LIMIT max_rows FOR UPDATE SKIP LOCKED
        ) RETURNING *
    ), change AS (
        SELECT "workspace_id", "is_import", "created_at", each."lead_id", each."version"
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
            CASE WHEN is_sent THEN 'waiting' ELSE 'skipped' END,
            CASE WHEN is_sent THEN now() END
        FROM event JOIN "delivery_endpoint" AS endpoint
            ON endpoint."workspace_id" = event."workspace_id" AND endpoint."deleted_at" IS NULL
            AND endpoint."created_at" <= event."created_at"
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
                        AND special."created_at" <= event."created_at"
                        AND special."kind" = 'postback'
                        AND special."user_id" IS NOT DISTINCT FROM endpoint."user_id"
                        AND event."campaign_id" = ANY (special."campaign_ids")
                        AND event."to_status" = ANY (special."statuses")
                ))
            END
        CROSS JOIN LATERAL (
            SELECT endpoint."disabled_at" IS NULL AND endpoint."enabled_at" <= event."created_at" AS is_sent
        ) AS decision
        ON CONFLICT DO NOTHING
    )
    SELECT count(*) INTO replaced FROM taken;
    RETURN replaced;
END
$$;

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION plan_deliveries(integer) SECURITY DEFINER SET search_path = %I, pg_temp', current_schema());
END
$$;
