-- The newest requests of each API key, for its developers. A request has no content, no address of a person and no header.
CREATE TABLE "api_request" (
    "api_key_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "service" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "status" SMALLINT NOT NULL,
    "code" TEXT,
    "duration_ms" DOUBLE PRECISION NOT NULL,

    CONSTRAINT "api_request_pkey" PRIMARY KEY ("api_key_id", "at", "id")
);
CREATE INDEX "api_request_at_idx" ON "api_request"("at");

-- The number of requests of each API key by UTC day.
CREATE TABLE "api_usage" (
    "api_key_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "workspace_id" UUID NOT NULL,
    "success" INTEGER NOT NULL,
    "client_errors" INTEGER NOT NULL,
    "server_errors" INTEGER NOT NULL,
    "unlisted" INTEGER NOT NULL,

    CONSTRAINT "api_usage_pkey" PRIMARY KEY ("api_key_id", "day")
);
CREATE INDEX "api_usage_day_idx" ON "api_usage"("day");

ALTER TABLE "api_request" ADD CONSTRAINT "api_request_api_key_id_fkey" FOREIGN KEY ("api_key_id") REFERENCES "api_key"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "api_usage" ADD CONSTRAINT "api_usage_api_key_id_fkey" FOREIGN KEY ("api_key_id") REFERENCES "api_key"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "api_request" ADD CONSTRAINT "api_request_service_check" CHECK ("service" IN ('crm', 'intake'));

-- Rows are added and deleted all the time.
ALTER TABLE "api_request"
    SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_threshold = 5000);

ALTER TABLE "api_request" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "api_usage" ENABLE ROW LEVEL SECURITY;

-- Adds requests and counts of existing keys, in JSON with the names of the columns in camel case. Keeps the newest "most"
-- requests of a key, or some more: the older ones of a key are deleted with a probability that grows with its new ones.
CREATE FUNCTION "log_requests"("requests" jsonb, "counts" jsonb, "most" integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    -- The order prevents deadlocks of two calls. The row of the key is locked, so that it is not deleted meanwhile. As each
    -- request is also counted, the second of two calls with requests of a key waits here.
    INSERT INTO "api_usage" AS "kept"
        ("api_key_id", "day", "workspace_id", "success", "client_errors", "server_errors", "unlisted")
    SELECT "api_key"."id", "day", "workspace_id", "success", "clientErrors", "serverErrors", "unlisted"
    FROM jsonb_to_recordset("counts") AS "added" (
        "apiKeyId" uuid, "day" date, "success" integer, "clientErrors" integer, "serverErrors" integer, "unlisted" integer
    ) JOIN "api_key" ON "api_key"."id" = "apiKeyId"
    ORDER BY 1, 2
    FOR KEY SHARE OF "api_key"
    ON CONFLICT ("api_key_id", "day") DO UPDATE SET
        "success" = "kept"."success" + "excluded"."success",
        "client_errors" = "kept"."client_errors" + "excluded"."client_errors",
        "server_errors" = "kept"."server_errors" + "excluded"."server_errors",
        "unlisted" = "kept"."unlisted" + "excluded"."unlisted";

    INSERT INTO "api_request"
        ("api_key_id", "at", "id", "workspace_id", "service", "method", "route", "status", "code", "duration_ms")
    SELECT "api_key"."id", "at", "added"."id", "workspace_id", "service", "method", "route", "status", "code", "durationMs"
    FROM jsonb_to_recordset("requests") AS "added" (
        "apiKeyId" uuid, "at" timestamptz, "id" uuid, "service" text, "method" text, "route" text, "status" smallint,
        "code" text, "durationMs" double precision
    ) JOIN "api_key" ON "api_key"."id" = "apiKeyId"
    ON CONFLICT DO NOTHING;

    DELETE FROM "api_request" USING (
        SELECT "apiKeyId", "oldest"."at", "oldest"."id"
        FROM (
            SELECT "apiKeyId" FROM jsonb_to_recordset("requests") AS "added" ("apiKeyId" uuid)
            GROUP BY 1 HAVING random() < count(*) / 50.0
        ) AS "busy" CROSS JOIN LATERAL (
            SELECT "at", "id" FROM "api_request" WHERE "api_key_id" = "apiKeyId"
            ORDER BY "at" DESC, "id" DESC OFFSET "most" - 1 LIMIT 1
        ) AS "oldest"
    ) AS "kept"
    WHERE "api_key_id" = "apiKeyId" AND ("api_request"."at", "api_request"."id") < ("kept"."at", "kept"."id");
END
$$;

-- The services may call this function, and have no right to write the tables. The CRM deletes expired rows.
DO $$
DECLARE
    "named" regprocedure := 'log_requests(jsonb, jsonb, integer)'::regprocedure;
BEGIN
    EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', "named", current_schema());
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', "named");
END
$$;
