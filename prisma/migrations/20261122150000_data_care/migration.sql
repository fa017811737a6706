-- How old leads of a campaign may become; without it they are kept.
-- leads: allow constraint: campaigns are few, and are read in milliseconds
ALTER TABLE "campaign" ADD COLUMN "retention_days" INTEGER;
ALTER TABLE "campaign"
    ADD CONSTRAINT "campaign_retention_days_check" CHECK ("retention_days" BETWEEN 1 AND 36500);

-- What is left of leads that were erased, for the overview: how many there were, and nothing of whom.
CREATE TABLE "lead_tally_erased" (
    "id" BIGSERIAL NOT NULL,
    "workspace_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "campaign_id" UUID NOT NULL,
    "lp_name" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "status" "lead_status" NOT NULL,
    "leads" INTEGER NOT NULL,
    "with_s1" INTEGER NOT NULL,

    CONSTRAINT "lead_tally_erased_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "lead_tally_erased_workspace_id_at_idx" ON "lead_tally_erased"("workspace_id", "at");
ALTER TABLE "lead_tally_erased"
    ADD CONSTRAINT "lead_tally_erased_leads_check" CHECK ("leads" >= 1 AND "with_s1" BETWEEN 0 AND "leads");

-- Whom it was that was erased, as keyed hashes, so that they can be erased again after a restore.
CREATE TABLE "erasure" (
    "id" UUID NOT NULL,
    "workspace_id" UUID,
    "keys" TEXT[] NOT NULL,
    "seal" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "found" JSONB NOT NULL,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "erasure_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "erasure"
    ADD CONSTRAINT "erasure_keys_check" CHECK (cardinality("keys") >= 1),
    ADD CONSTRAINT "erasure_found_check" CHECK (jsonb_typeof("found") = 'object');

-- A history goes with its lead, whole, by "erase_leads" below, and by nobody but whom the tables belong to: a service's
-- role may not, whatever it was granted.
CREATE OR REPLACE FUNCTION "refuse_change_of_history"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('leads.erasing', true) = 'on'
        AND pg_has_role(current_user, (SELECT "relowner" FROM "pg_class" WHERE "oid" = TG_RELID), 'USAGE') THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'The history of leads is only ever added to' USING ERRCODE = 'insufficient_privilege';
END
$$;

-- What was counted of a lead that is erased stays counted.
CREATE OR REPLACE FUNCTION "count_changed_lead"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('leads.erasing', true) = 'on' THEN
        RETURN NULL;
    END IF;
    INSERT INTO "lead_tally_entry"
        ("workspace_id", "user_id", "campaign_id", "lp_name", "at", "status", "leads", "s1")
    SELECT "workspace_id", "user_id", "campaign_id", "lead_tally_name"("lp_name"), "lead_tally_time"("created_at"),
        "status", leads, array_remove(ARRAY["s1"], NULL)
    FROM (SELECT OLD.*, -1 AS leads UNION ALL SELECT NEW.*, 1 WHERE TG_OP = 'UPDATE') AS changed;
    RETURN NULL;
END
$$;
-- It counts with its owner's rights, as before, which a function that is replaced forgets.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION "count_changed_lead"() SECURITY DEFINER SET search_path = %I, pg_temp', current_schema());
END
$$;

-- Erases leads with their histories, and keeps how many there were. Ids that are of no lead are passed over.
CREATE FUNCTION "erase_leads"(ids uuid[], OUT erased_leads bigint, OUT erased_changes bigint)
    LANGUAGE plpgsql AS $$
BEGIN
    -- Not as a setting of the function's own, which only a superuser may give it.
    PERFORM set_config('leads.erasing', 'on', true);
    -- Nobody changes a status between its being counted and its being gone.
    PERFORM FROM "lead" WHERE "id" = ANY (ids) ORDER BY "id" FOR UPDATE;
    INSERT INTO "lead_tally_erased"
        ("workspace_id", "user_id", "campaign_id", "lp_name", "at", "status", "leads", "with_s1")
    SELECT "workspace_id", "user_id", "campaign_id", "lead_tally_name"("lp_name"), "lead_tally_time"("created_at"),
        "status", count(*), count("s1")
    FROM "lead" WHERE "id" = ANY (ids) GROUP BY 1, 2, 3, 4, 5, 6;
    DELETE FROM "lead_change" WHERE "lead_id" = ANY (ids);
    GET DIAGNOSTICS erased_changes = ROW_COUNT;
    DELETE FROM "lead" WHERE "id" = ANY (ids);
    GET DIAGNOSTICS erased_leads = ROW_COUNT;
    PERFORM set_config('leads.erasing', '', true);
END
$$;
REVOKE EXECUTE ON FUNCTION "erase_leads" FROM PUBLIC;
