-- A foreign key is asked after for every row, which was a fifth of what a lead costs in a batch. These say the same of
-- the same rows, with the same locks, and ask once for each campaign and each user of a statement.
ALTER TABLE "lead" DROP CONSTRAINT "lead_workspace_id_campaign_id_fkey";
ALTER TABLE "lead" DROP CONSTRAINT "lead_user_id_fkey";

CREATE FUNCTION "check_owners_of_leads"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    owners record;
BEGIN
    -- In one order, so that two statements wait for each other instead of deadlocking. What is found is locked: nobody
    -- deletes it before this is committed.
    FOR owners IN SELECT DISTINCT "workspace_id", "campaign_id", "user_id" FROM "inserted" ORDER BY 1, 2, 3 LOOP
        PERFORM FROM "campaign"
            WHERE "workspace_id" = owners."workspace_id" AND "id" = owners."campaign_id" FOR KEY SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'A lead is of a campaign that its workspace does not have'
                USING ERRCODE = 'foreign_key_violation', TABLE = 'lead', CONSTRAINT = 'lead_of_campaign';
        END IF;
        PERFORM FROM "user" WHERE "id" = owners."user_id" FOR KEY SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'A lead is of a user that there is not'
                USING ERRCODE = 'foreign_key_violation', TABLE = 'lead', CONSTRAINT = 'lead_of_user';
        END IF;
    END LOOP;
    RETURN NULL;
END
$$;

CREATE TRIGGER "lead_owners_inserted" AFTER INSERT ON "lead" REFERENCING NEW TABLE AS "inserted"
    FOR EACH STATEMENT EXECUTE FUNCTION "check_owners_of_leads"();

CREATE FUNCTION "refuse_other_owners"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'A lead stays with its workspace, its campaign and its user'
        USING ERRCODE = 'restrict_violation', TABLE = 'lead', CONSTRAINT = 'lead_owners_kept';
END
$$;

CREATE TRIGGER "lead_owners_kept" BEFORE UPDATE ON "lead" FOR EACH ROW
    WHEN ((OLD."workspace_id", OLD."campaign_id", OLD."user_id")
        IS DISTINCT FROM (NEW."workspace_id", NEW."campaign_id", NEW."user_id"))
    EXECUTE FUNCTION "refuse_other_owners"();

CREATE FUNCTION "keep_campaign_of_leads"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM "lead" WHERE "campaign_id" = OLD."id") THEN
        RAISE EXCEPTION 'There are leads of this campaign'
            USING ERRCODE = 'foreign_key_violation', TABLE = 'lead', CONSTRAINT = 'lead_of_campaign';
    END IF;
    RETURN NULL;
END
$$;

CREATE FUNCTION "keep_user_of_leads"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM "lead" WHERE "user_id" = OLD."id") THEN
        RAISE EXCEPTION 'There are leads of this user'
            USING ERRCODE = 'foreign_key_violation', TABLE = 'lead', CONSTRAINT = 'lead_of_user';
    END IF;
    RETURN NULL;
END
$$;

-- After the row is locked, which waits for the statements that have locked it above.
CREATE TRIGGER "campaign_deleted" AFTER DELETE ON "campaign" FOR EACH ROW EXECUTE FUNCTION "keep_campaign_of_leads"();
CREATE TRIGGER "campaign_renumbered" AFTER UPDATE ON "campaign" FOR EACH ROW
    WHEN ((OLD."workspace_id", OLD."id") IS DISTINCT FROM (NEW."workspace_id", NEW."id"))
    EXECUTE FUNCTION "keep_campaign_of_leads"();
-- A user's id cannot change already: that would change the history of leads.
CREATE TRIGGER "user_deleted" AFTER DELETE ON "user" FOR EACH ROW EXECUTE FUNCTION "keep_user_of_leads"();
