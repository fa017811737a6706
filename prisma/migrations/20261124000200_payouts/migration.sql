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

-- Returns the payout that the rules give a lead: that of its publisher, else that of its campaign. No row without both.
CREATE FUNCTION "payout_by_rules"("of_campaign" uuid, "of_user" uuid)
    RETURNS TABLE ("amount" numeric, "currency" text, "rule" "payout_rule") LANGUAGE sql STABLE AS $$
    SELECT coalesce("own"."amount", "campaign"."payout_amount"), coalesce("own"."currency", "campaign"."payout_currency"),
        (CASE WHEN "own"."amount" IS NULL THEN 'campaign' ELSE 'publisher' END)::"payout_rule"
    FROM "campaign" LEFT JOIN "publisher_payout" AS "own"
        ON "own"."campaign_id" = "campaign"."id" AND "own"."user_id" = "of_user"
    WHERE "campaign"."id" = "of_campaign" AND ("own"."amount" IS NOT NULL OR "campaign"."payout_amount" IS NOT NULL)
$$;

-- Fixes the amount of a lead that becomes Approved, and takes the fixed amount of a lead away that becomes OnHold or
-- Trashed. An amount that a person has set for the lead stays.
CREATE FUNCTION "fix_payout"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW."payout_amount" := NULL;
    NEW."payout_currency" := NULL;
    NEW."payout_rule" := NULL;
    IF NEW."status" IN ('Approved', 'Paid') THEN
        SELECT * INTO NEW."payout_amount", NEW."payout_currency", NEW."payout_rule"
        FROM "payout_by_rules"(NEW."campaign_id", NEW."user_id");
    END IF;
    RETURN NEW;
END
$$;

-- A lead without an amount that goes from Paid back to Approved was fixed without one, so it stays without one.
CREATE TRIGGER "lead_payout_updated" BEFORE UPDATE ON "lead" FOR EACH ROW
    WHEN (
        NEW."status" = 'Approved' AND NEW."payout_rule" IS NULL
            AND (OLD."status" NOT IN ('Approved', 'Paid') OR OLD."payout_rule" IS NOT NULL)
        OR NEW."status" IN ('OnHold', 'Trashed') AND NEW."payout_rule" <> 'lead'
    )
    EXECUTE FUNCTION "fix_payout"();

-- As before, and fixes the amount of leads that are approved when they are created. A trigger for each row would cost each
-- insert the preparation of its condition.
CREATE OR REPLACE FUNCTION "note_inserted_leads"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    entry record;
    known_workspace uuid;
    known_campaign uuid;
    known_user uuid;
    assignees uuid[];
    has_approved boolean := false;
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
        RETURNING "workspace_id", "campaign_id", "user_id", "status"
    LOOP
        has_approved := has_approved OR entry."status" IN ('Approved', 'Paid');
        CONTINUE WHEN entry."workspace_id" = known_workspace AND entry."campaign_id" = known_campaign
            AND entry."user_id" = known_user;
        -- Instead of a foreign key, which would check every row. The found rows are locked, so that no other transaction
        -- deletes them before the commit. They are locked in one order, so that two statements cannot deadlock.
        SELECT "campaign"."assignee_ids" INTO assignees FROM "campaign", "user"
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
        IF cardinality(assignees) > 0 THEN
            SELECT array_agg("assignee_id" ORDER BY "place") INTO assignees
            FROM unnest(assignees) WITH ORDINALITY AS each ("assignee_id", "place")
            JOIN "member" ON "member"."workspace_id" = entry."workspace_id" AND "member"."user_id" = "assignee_id"
                AND "member"."role" <> 'publisher';
        END IF;
        IF cardinality(assignees) > 0 THEN
            WITH arrived AS (
                SELECT "id", row_number() OVER (ORDER BY "created_at", "id") - count(*) OVER () - 1 AS "place"
                FROM "inserted" WHERE "campaign_id" = entry."campaign_id" AND "user_id" = entry."user_id"
                    AND "status" = 'OnHold'
            ), turn AS (
                -- The lock on the campaign gives concurrent statements different turns.
                UPDATE "campaign"
                SET "assignee_turn" = ("assignee_turn" + (SELECT count(*) FROM arrived)) % cardinality(assignees)
                WHERE "id" = entry."campaign_id" RETURNING "assignee_turn" AS "next"
            )
            -- The place of the last lead is -1: its turn is the one before the next. A remainder may be negative here.
            UPDATE "lead" SET "assignee_id" = assignees[
                1 + (("next" + "place")::int % cardinality(assignees) + cardinality(assignees)) % cardinality(assignees)
            ]
            FROM arrived, turn WHERE "lead"."id" = arrived."id";
        END IF;
        known_workspace := entry."workspace_id";
        known_campaign := entry."campaign_id";
        known_user := entry."user_id";
    END LOOP;
    IF has_approved THEN
        UPDATE "lead" SET "payout_amount" = "rules"."amount", "payout_currency" = "rules"."currency",
            "payout_rule" = "rules"."rule"
        FROM (
            SELECT DISTINCT "campaign_id", "user_id" FROM "inserted" WHERE "status" IN ('Approved', 'Paid')
        ) AS "owners" CROSS JOIN LATERAL "payout_by_rules"("owners"."campaign_id", "owners"."user_id") AS "rules"
            JOIN "inserted" ON "inserted"."campaign_id" = "owners"."campaign_id"
                AND "inserted"."user_id" = "owners"."user_id" AND "inserted"."status" IN ('Approved', 'Paid')
        WHERE "lead"."id" = "inserted"."id";
    END IF;
    RETURN NULL;
END
$$;

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
        'fix_payout()', 'note_inserted_leads()', 'count_changed_leads()', 'count_changed_lead()'
    ]::regprocedure[]
    LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', "named", current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', "named");
    END LOOP;
END
$$;
