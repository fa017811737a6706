-- As before, and without the statement for "delivery_outbox" where no endpoint exists.
CREATE OR REPLACE FUNCTION "note_inserted_leads"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    entry record;
    known_workspace uuid;
    known_campaign uuid;
    known_user uuid;
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

-- It runs with the rights of the owner of the tables, whoever triggers it.
DO $$
BEGIN
    EXECUTE format(
        'ALTER FUNCTION note_inserted_leads() SECURITY DEFINER SET search_path = %I, pg_temp', current_schema()
    );
END
$$;
