-- The amount that a lead is worth to its publisher. Campaigns have a rule, which each of their publishers can override. The
-- amount is fixed on a lead when the lead becomes Approved.
-- leads: allow constraint: campaigns are few, and are read in milliseconds

CREATE TYPE "payout_rule" AS ENUM ('lead', 'publisher', 'campaign');

ALTER TABLE "campaign"
    ADD COLUMN "payout_amount" DECIMAL(16,4),
    ADD COLUMN "payout_currency" TEXT,
    ADD CONSTRAINT "campaign_payout_check" CHECK (
        ("payout_amount" IS NULL) = ("payout_currency" IS NULL) AND "payout_amount" >= 0 AND "payout_currency" ~ '^[A-Z]{3}$'
    );

CREATE TABLE "publisher_payout" (
    "campaign_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "amount" DECIMAL(16,4) NOT NULL,
    "currency" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "publisher_payout_pkey" PRIMARY KEY ("campaign_id","user_id"),
    CONSTRAINT "publisher_payout_amount_check" CHECK ("amount" >= 0),
    CONSTRAINT "publisher_payout_currency_check" CHECK ("currency" ~ '^[A-Z]{3}$')
);
CREATE INDEX "publisher_payout_workspace_id_user_id_idx" ON "publisher_payout"("workspace_id", "user_id");
ALTER TABLE "publisher_payout" ADD CONSTRAINT "publisher_payout_workspace_id_campaign_id_fkey" FOREIGN KEY ("workspace_id", "campaign_id") REFERENCES "campaign"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "publisher_payout" ADD CONSTRAINT "publisher_payout_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "publisher_payout" ENABLE ROW LEVEL SECURITY;

ALTER TABLE "lead"
    ADD COLUMN "payout_amount" DECIMAL(16,4),
    ADD COLUMN "payout_currency" TEXT,
    ADD COLUMN "payout_rule" "payout_rule",
    ADD CONSTRAINT "lead_payout_check" CHECK (
        ("payout_rule" IS NULL) = ("payout_amount" IS NULL) AND ("payout_rule" IS NULL) = ("payout_currency" IS NULL)
        AND "payout_amount" >= 0 AND "payout_currency" ~ '^[A-Z]{3}$'
        AND ("payout_rule" = 'lead' OR "status" IN ('Approved', 'Paid'))
    ) NOT VALID;
CREATE OR REPLACE VIEW "lead_of_workspace" AS SELECT * FROM "lead" WHERE "workspace_id" = "acting_workspace"();

-- Totals of leads with an amount of their own, by UTC day of their creation, as lead_tally has counts.
CREATE TABLE "payout_tally" (
    "workspace_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "campaign_id" UUID NOT NULL,
    "status" "lead_status" NOT NULL,
    "currency" TEXT NOT NULL,
    "leads" INTEGER NOT NULL,
    "amount" DECIMAL(38,4) NOT NULL,

    CONSTRAINT "payout_tally_pkey" PRIMARY KEY ("workspace_id","user_id","at","campaign_id","status","currency")
);
ALTER TABLE "payout_tally" ENABLE ROW LEVEL SECURITY;

CREATE TABLE "payout_tally_entry" (
    "id" BIGSERIAL NOT NULL,
    "workspace_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "campaign_id" UUID NOT NULL,
    "status" "lead_status" NOT NULL,
    "currency" TEXT NOT NULL,
    "leads" INTEGER NOT NULL,
    "amount" DECIMAL(38,4) NOT NULL,

    CONSTRAINT "payout_tally_entry_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "payout_tally_entry" ENABLE ROW LEVEL SECURITY;
-- Rows are inserted and deleted at a high rate, as in lead_tally_entry.
ALTER TABLE "payout_tally_entry"
    SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_threshold = 5000);

-- The amounts of erased leads, for parts of a day.
ALTER TABLE "lead_tally_erased"
    ADD COLUMN "payout_currency" TEXT,
    ADD COLUMN "payout_amount" DECIMAL(38,4);

-- Returns an amount as JSON: the amount as text without an exponent and without zeros at its end.
CREATE FUNCTION "payout_json"("amount" numeric, "currency" text, "rule" "payout_rule") RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN "rule" IS NOT NULL THEN
        jsonb_build_object('amount', trim_scale("amount")::text, 'currency', "currency", 'rule', "rule")
    END;

-- Adds a change of the amount to the fields of a history entry. Every statement that changes a status must use it.
CREATE FUNCTION "with_payout_change"("fields" jsonb, "before" jsonb, "after" jsonb) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN "before" IS DISTINCT FROM "after" THEN
        coalesce("fields", '{}')
            || jsonb_build_object('payout', jsonb_strip_nulls(jsonb_build_object('from', "before", 'to', "after")))
    ELSE "fields" END;

-- Fixes the amount of a lead that becomes Approved, and takes the fixed amount of a lead away that becomes OnHold or
-- Trashed. An amount that a person has set for the lead stays.
CREATE FUNCTION "fix_payout"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW."payout_amount" := NULL;
    NEW."payout_currency" := NULL;
    NEW."payout_rule" := NULL;
    IF NEW."status" IN ('OnHold', 'Trashed') THEN
        RETURN NEW;
    END IF;
    SELECT "amount", "currency", 'publisher' INTO NEW."payout_amount", NEW."payout_currency", NEW."payout_rule"
    FROM "publisher_payout" WHERE "campaign_id" = NEW."campaign_id" AND "user_id" = NEW."user_id";
    IF NOT FOUND THEN
        SELECT "campaign"."payout_amount", "campaign"."payout_currency", 'campaign'
        INTO NEW."payout_amount", NEW."payout_currency", NEW."payout_rule"
        FROM "campaign" WHERE "id" = NEW."campaign_id" AND "campaign"."payout_amount" IS NOT NULL;
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER "lead_payout_inserted" BEFORE INSERT ON "lead" FOR EACH ROW
    WHEN (NEW."status" IN ('Approved', 'Paid') AND NEW."payout_rule" IS NULL)
    EXECUTE FUNCTION "fix_payout"();
-- A lead without an amount that goes from Paid back to Approved was fixed without one, so it stays without one.
CREATE TRIGGER "lead_payout_updated" BEFORE UPDATE ON "lead" FOR EACH ROW
    WHEN (
        NEW."status" = 'Approved' AND NEW."payout_rule" IS NULL
            AND (OLD."status" NOT IN ('Approved', 'Paid') OR OLD."payout_rule" IS NOT NULL)
        OR NEW."status" IN ('OnHold', 'Trashed') AND NEW."payout_rule" <> 'lead'
    )
    EXECUTE FUNCTION "fix_payout"();

-- Counts a lead that has an amount already when it is created. There is no such lead in most inserts, so this costs them
-- only the condition of the trigger.
CREATE FUNCTION "count_payout_of_inserted_lead"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "payout_tally_entry"
        ("workspace_id", "user_id", "at", "campaign_id", "status", "currency", "leads", "amount")
    VALUES (NEW."workspace_id", NEW."user_id", date_bin('1 day', NEW."created_at", '2000-01-01T00:00:00Z'),
        NEW."campaign_id", NEW."status", NEW."payout_currency", 1, NEW."payout_amount");
    RETURN NULL;
END
$$;
CREATE TRIGGER "lead_payout_counted" AFTER INSERT ON "lead" FOR EACH ROW
    WHEN (NEW."payout_rule" IS NOT NULL AND NEW."status" <> 'Trashed')
    EXECUTE FUNCTION "count_payout_of_inserted_lead"();

-- As before, and also counts the amounts of the leads that have one.
CREATE OR REPLACE FUNCTION "count_changed_leads"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "lead_tally_entry"
        ("workspace_id", "user_id", "campaign_id", "lp_name", "at", "status", "leads", "s1")
    SELECT "workspace_id", "user_id", "campaign_id", "lp_name", "at", "status", count(*) * sign("leads"),
        array_remove(array_agg("s1"), NULL)
    FROM (
        SELECT "workspace_id", "user_id", "campaign_id", "lead_tally_name"("lp_name") AS "lp_name",
            "lead_tally_time"("created_at") AS "at", "status", "s1", sum("leads") AS "leads"
        FROM (SELECT *, -1 AS "leads" FROM "before" UNION ALL SELECT *, 1 FROM "after") AS "changed"
        GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum("leads") <> 0
    ) AS "counted" CROSS JOIN LATERAL generate_series(1, abs("leads"))
    GROUP BY 1, 2, 3, 4, 5, 6, sign("leads");
    -- Most workspaces have no amounts. This check is cheaper than the statement below, which groups all rows.
    IF EXISTS (
        SELECT FROM "before" WHERE "payout_rule" IS NOT NULL UNION ALL SELECT FROM "after" WHERE "payout_rule" IS NOT NULL
    ) THEN
        INSERT INTO "payout_tally_entry"
            ("workspace_id", "user_id", "at", "campaign_id", "status", "currency", "leads", "amount")
        SELECT "workspace_id", "user_id", date_bin('1 day', "created_at", '2000-01-01T00:00:00Z'), "campaign_id", "status",
            "payout_currency", sum("leads"), sum("leads" * "payout_amount")
        FROM (SELECT *, -1 AS "leads" FROM "before" UNION ALL SELECT *, 1 FROM "after") AS "changed"
        WHERE "payout_rule" IS NOT NULL AND "status" <> 'Trashed'
        GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum("leads") <> 0 OR sum("leads" * "payout_amount") <> 0;
    END IF;
    RETURN NULL;
END
$$;

-- As before, and also counts the amount. What was counted of an erased lead stays counted.
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
    INSERT INTO "payout_tally_entry"
        ("workspace_id", "user_id", "at", "campaign_id", "status", "currency", "leads", "amount")
    SELECT "workspace_id", "user_id", date_bin('1 day', "created_at", '2000-01-01T00:00:00Z'), "campaign_id", "status",
        "payout_currency", leads, leads * "payout_amount"
    FROM (SELECT OLD.*, -1 AS leads UNION ALL SELECT NEW.*, 1 WHERE TG_OP = 'UPDATE') AS changed
    WHERE "payout_rule" IS NOT NULL AND "status" <> 'Trashed';
    RETURN NULL;
END
$$;

-- As before, and keeps the amounts of the leads.
CREATE OR REPLACE FUNCTION "erase_leads"(ids uuid[], OUT erased_leads bigint, OUT erased_changes bigint)
    LANGUAGE plpgsql AS $$
BEGIN
    -- Not as a setting of the function, which only a superuser may give it.
    PERFORM set_config('leads.erasing', 'on', true);
    -- The status of a counted lead must not change before the lead is deleted.
    PERFORM FROM "lead" WHERE "id" = ANY (ids) ORDER BY "id" FOR UPDATE;
    INSERT INTO "lead_tally_erased"
        ("workspace_id", "user_id", "campaign_id", "lp_name", "at", "status", "payout_currency", "payout_amount",
            "leads", "with_s1")
    SELECT "workspace_id", "user_id", "campaign_id", "lead_tally_name"("lp_name"), "lead_tally_time"("created_at"),
        "status", CASE WHEN "status" <> 'Trashed' THEN "payout_currency" END,
        sum("payout_amount") FILTER (WHERE "status" <> 'Trashed'), count(*), count("s1")
    FROM "lead" WHERE "id" = ANY (ids) GROUP BY 1, 2, 3, 4, 5, 6, 7;
    DELETE FROM "delivery" WHERE "lead_id" = ANY (ids);
    DELETE FROM "lead_change" WHERE "lead_id" = ANY (ids);
    GET DIAGNOSTICS erased_changes = ROW_COUNT;
    DELETE FROM "lead" WHERE "id" = ANY (ids);
    GET DIAGNOSTICS erased_leads = ROW_COUNT;
    PERFORM set_config('leads.erasing', '', true);
END
$$;

-- The functions run with the rights of the owner of the tables.
DO $$
DECLARE
    "named" regprocedure;
BEGIN
    FOREACH "named" IN ARRAY ARRAY[
        'fix_payout()', 'count_payout_of_inserted_lead()', 'count_changed_leads()', 'count_changed_lead()'
    ]::regprocedure[]
    LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', "named", current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', "named");
    END LOOP;
END
$$;
