-- Every lead and every change of one is an event. What is to be told is noted in the transaction that makes it so, one
-- row for a statement however many leads it has, and told by the relay; what the events hold is in "lead" and
-- "lead_change".
CREATE TABLE "lead_outbox" (
    "id" BIGSERIAL NOT NULL,
    "lead_ids" UUID[] NOT NULL,
    "versions" INTEGER[] NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "lead_outbox_pkey" PRIMARY KEY ("id")
);

-- Rows come and go: what is left of those that went makes the oldest slow to find.
ALTER TABLE "lead_outbox"
    SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_threshold = 5000);

-- One trigger instead of one for each purpose: for a lone lead each costs about a twelfth of its insert.
DROP TRIGGER "lead_owners_inserted" ON "lead";
DROP FUNCTION "check_owners_of_leads";
DROP TRIGGER "lead_tally_inserted" ON "lead";
DROP FUNCTION "count_inserted_leads";

CREATE FUNCTION "note_inserted_leads"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    entry record;
    known_workspace uuid;
    known_campaign uuid;
    known_user uuid;
BEGIN
    INSERT INTO "lead_outbox" ("lead_ids", "versions")
    SELECT array_agg("id"), array_agg("version") FROM "inserted" HAVING count(*) > 0;

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
        -- Instead of a foreign key, which asks for every row. What is found is locked: nobody deletes it before this is
        -- committed. In one order, so that two statements wait for each other instead of deadlocking.
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

CREATE TRIGGER "lead_inserted" AFTER INSERT ON "lead" REFERENCING NEW TABLE AS "inserted"
    FOR EACH STATEMENT EXECUTE FUNCTION "note_inserted_leads"();

CREATE FUNCTION "note_changed_leads"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "lead_outbox" ("lead_ids", "versions")
    SELECT array_agg("lead_id"), array_agg("version") FROM "inserted" HAVING count(*) > 0;
    RETURN NULL;
END
$$;

CREATE TRIGGER "lead_change_inserted" AFTER INSERT ON "lead_change" REFERENCING NEW TABLE AS "inserted"
    FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_leads"();
