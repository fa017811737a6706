-- Postbacks: endpoints that receive a request rendered from a template, of the workspace or of one of its members.
-- leads: allow constraint: the tables are of the migration before, which no release contains without this one
ALTER TABLE "delivery_endpoint"
    ADD COLUMN "kind" TEXT NOT NULL DEFAULT 'webhook',
    ADD COLUMN "user_id" UUID,
    ADD COLUMN "method" TEXT,
    ADD COLUMN "body_format" TEXT,
    ADD COLUMN "body" TEXT,
    ADD COLUMN "sends_without_s1" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "answer_contains" TEXT,
    ALTER COLUMN "secret" DROP NOT NULL;

ALTER TABLE "delivery"
    ADD COLUMN "skip_reason" TEXT,
    ADD COLUMN "request" TEXT,
    ADD COLUMN "request_hash" TEXT;

ALTER TABLE "delivery_endpoint" ADD CONSTRAINT "delivery_endpoint_workspace_id_user_id_fkey" FOREIGN KEY ("workspace_id", "user_id") REFERENCES "member"("workspace_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "delivery_endpoint"
    ADD CONSTRAINT "delivery_endpoint_kind_check" CHECK (
        ("kind" = 'webhook' AND "secret" IS NOT NULL AND "user_id" IS NULL AND "method" IS NULL)
        OR ("kind" = 'postback' AND "secret" IS NULL AND "method" IS NOT NULL AND cardinality("statuses") >= 1
            AND cardinality("campaign_ids") <= 1)
    ),
    ADD CONSTRAINT "delivery_endpoint_method_check" CHECK ("method" IN ('GET', 'POST')),
    ADD CONSTRAINT "delivery_endpoint_body_check" CHECK (
        ("body" IS NULL) = ("body_format" IS NULL) AND ("body" IS NULL OR "method" = 'POST')
        AND "body_format" IN ('form', 'json') AND length("body") BETWEEN 1 AND 8192
    ),
    ADD CONSTRAINT "delivery_endpoint_answer_contains_check" CHECK (
        "answer_contains" IS NULL OR (length("answer_contains") BETWEEN 1 AND 255 AND "kind" = 'postback')
    );
ALTER TABLE "delivery"
    DROP CONSTRAINT "delivery_state_check",
    ADD CONSTRAINT "delivery_state_check" CHECK (
        "state" IN ('waiting', 'delivered', 'failed', 'skipped', 'superseded')
    ),
    ADD CONSTRAINT "delivery_skip_reason_check" CHECK (
        "skip_reason" IS NULL OR ("state" = 'skipped' AND "skip_reason" IN ('no_s1', 'unchanged'))
    ),
    ADD CONSTRAINT "delivery_request_check" CHECK (length("request") <= 4096);

-- As before. A postback gets the statuses of the leads of its owner, also the first status. A postback of a campaign
-- replaces the postback for all campaigns of the same owner.
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

-- It runs with the rights of the owner of the tables, whoever calls it.
DO $$
BEGIN
    EXECUTE format(
        'ALTER FUNCTION plan_deliveries(integer) SECURITY DEFINER SET search_path = %I, pg_temp', current_schema()
    );
END
$$;
