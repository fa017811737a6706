-- Returns what the events of some versions of leads need: the change of each version, and the changes between two versions,
-- or after the last one, merged into one. A merged change has the first old value of each field, which is enough to revert
-- the changes. A reader without it would need all texts of a history, which can have hundreds of megabytes.
CREATE FUNCTION "changes_of_events"("lead_ids" uuid[], "versions" integer[]) RETURNS SETOF "lead_change" LANGUAGE sql STABLE AS $$
    WITH "wanted" AS MATERIALIZED (
        SELECT "id", "version", "version" + 1 AS "first",
            lead("version", 1, 2147483647) OVER (PARTITION BY "id" ORDER BY "version") - 1 AS "last"
        FROM (SELECT DISTINCT * FROM unnest("lead_ids", "versions") AS "event" ("id", "version")) AS "event"
    ), "gap" AS MATERIALIZED (
        SELECT * FROM "wanted" WHERE EXISTS (
            SELECT FROM "lead_change" WHERE "lead_id" = "id" AND "lead_change"."version" BETWEEN "first" AND "last"
        )
    )
    SELECT "own".* FROM "wanted" CROSS JOIN LATERAL (
        -- A subquery makes Postgres look up each change by the primary key, also without statistics of the table.
        SELECT * FROM "lead_change" WHERE "lead_id" = "id" AND "lead_change"."version" = "wanted"."version" OFFSET 0
    ) AS "own"
    UNION ALL
    SELECT "merged".* FROM "gap"
        CROSS JOIN LATERAL (
            SELECT (array_agg("from_status" ORDER BY "version") FILTER (WHERE "from_status" IS NOT NULL))[1] AS "status"
            FROM "lead_change" WHERE "lead_id" = "id" AND "lead_change"."version" BETWEEN "first" AND "last"
        ) AS "reverted"
        CROSS JOIN LATERAL (
            SELECT jsonb_object_agg("name", ("fields" -> "name") - 'to') AS "fields"
            FROM (
                -- Without the values, which would be sorted on disk.
                SELECT "name", min("version") AS "version" FROM "lead_change" CROSS JOIN jsonb_object_keys("fields") AS "name"
                WHERE "lead_id" = "id" AND "lead_change"."version" BETWEEN "first" AND "last" GROUP BY "name"
            ) AS "earliest" JOIN "lead_change" ON "lead_id" = "id" AND "lead_change"."version" = "earliest"."version"
        ) AS "reverted_fields"
        CROSS JOIN LATERAL jsonb_populate_record(NULL::"lead_change", jsonb_build_object(
            'lead_id', "id", 'version', "first", 'from_status', "status", 'to_status', "status",
            'fields', "reverted_fields"."fields"
        )) AS "merged"
$$;

-- As before, but without the changes that the events of the rows do not need.
CREATE OR REPLACE FUNCTION "changes_of_outbox"(outbox_ids bigint[], most integer) RETURNS SETOF "lead_change" LANGUAGE sql STABLE AS $$
    SELECT "change".* FROM (
        SELECT array_agg("event"."lead_id") AS "lead_ids", array_agg("event"."version") AS "versions"
        FROM "lead_outbox" CROSS JOIN unnest("lead_ids"[:most], "versions"[:most]) AS "event" ("lead_id", "version")
        WHERE "lead_outbox"."id" = ANY(outbox_ids)
    ) AS "waiting" CROSS JOIN "changes_of_events"("waiting"."lead_ids", "waiting"."versions") AS "change"
$$;

-- The function runs with the rights of the owner of the tables.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION "changes_of_outbox"(bigint[], integer) SECURITY DEFINER SET search_path = %I, pg_temp', current_schema());
    REVOKE EXECUTE ON FUNCTION "changes_of_outbox"(bigint[], integer) FROM PUBLIC;
END
$$;
