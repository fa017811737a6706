ALTER TABLE "access_token" ADD COLUMN "last_used_at" TIMESTAMPTZ(3),
    ADD COLUMN "last_used_from" INET;

ALTER TABLE "api_key" ADD COLUMN "allowed_origins" TEXT[] DEFAULT ARRAY[]::TEXT[],
    ADD COLUMN "last_used_at" TIMESTAMPTZ(3),
    ADD COLUMN "last_used_from" INET,
    ADD COLUMN "replaces_id" UUID;

ALTER TABLE "campaign" ADD COLUMN "integration_token" TEXT;

ALTER TABLE "user" ADD COLUMN "two_factor_enabled" BOOLEAN NOT NULL DEFAULT false;

CREATE TABLE "session" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "token" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ip_address" TEXT,
    "user_agent" TEXT,
    "active_workspace_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "session_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "account" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "issuer" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "provider_id" TEXT NOT NULL,
    "password" TEXT,
    "access_token" TEXT,
    "refresh_token" TEXT,
    "id_token" TEXT,
    "access_token_expires_at" TIMESTAMPTZ(3),
    "refresh_token_expires_at" TIMESTAMPTZ(3),
    "scope" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "account_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "verification" (
    "id" UUID NOT NULL,
    "identifier" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "verification_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "two_factor" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "secret" TEXT NOT NULL,
    "backup_codes" TEXT NOT NULL,
    "verified" BOOLEAN NOT NULL DEFAULT true,
    "failed_verification_count" INTEGER NOT NULL DEFAULT 0,
    "locked_until" TIMESTAMPTZ(3),

    CONSTRAINT "two_factor_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "invitation" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "role" "member_role" NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "inviter_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "invitation_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "attempt" (
    "key" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "attempt_pkey" PRIMARY KEY ("key")
);

CREATE UNIQUE INDEX "session_token_key" ON "session"("token");

CREATE INDEX "session_user_id_idx" ON "session"("user_id");

CREATE INDEX "account_user_id_idx" ON "account"("user_id");

CREATE UNIQUE INDEX "account_issuer_provider_id_account_id_key" ON "account"("issuer", "provider_id", "account_id");

CREATE INDEX "verification_identifier_idx" ON "verification"("identifier");

CREATE INDEX "two_factor_user_id_idx" ON "two_factor"("user_id");

CREATE INDEX "two_factor_secret_idx" ON "two_factor"("secret");

CREATE INDEX "invitation_workspace_id_idx" ON "invitation"("workspace_id");

CREATE INDEX "invitation_email_idx" ON "invitation"("email");

CREATE INDEX "attempt_since_idx" ON "attempt"("since");

CREATE UNIQUE INDEX "campaign_integration_token_key" ON "campaign"("integration_token");

ALTER TABLE "session" ADD CONSTRAINT "session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "account" ADD CONSTRAINT "account_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "two_factor" ADD CONSTRAINT "two_factor_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "invitation" ADD CONSTRAINT "invitation_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "invitation" ADD CONSTRAINT "invitation_inviter_id_fkey" FOREIGN KEY ("inviter_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma's schema cannot say.

ALTER TABLE "api_key"
    ALTER COLUMN "allowed_origins" SET NOT NULL,
    -- A key that stands in a web page is no secret: all it may do is take leads.
    ADD CONSTRAINT "api_key_allowed_origins_check" CHECK ("scope" = 'intake' OR "allowed_origins" = '{}'),
    ADD CONSTRAINT "api_key_replaces_id_check" CHECK ("replaces_id" <> "id");

ALTER TABLE "campaign"
    ADD CONSTRAINT "campaign_integration_token_check" CHECK (length("integration_token") >= 32);

ALTER TABLE "session"
    ADD CONSTRAINT "session_expires_at_check" CHECK ("expires_at" > "created_at");

ALTER TABLE "invitation"
    ADD CONSTRAINT "invitation_email_check" CHECK ("email" = lower("email") AND "email" LIKE '_%@_%'),
    ADD CONSTRAINT "invitation_status_check" CHECK ("status" IN ('pending', 'accepted', 'rejected', 'canceled'));

ALTER TABLE "attempt"
    ADD CONSTRAINT "attempt_count_check" CHECK ("count" >= 1);

-- How many leads there are, for the overview: counted as they come, so that nobody has to look at a million.

CREATE TYPE "lead_tally_kind" AS ENUM ('time', 'campaign', 'landing_page', 's1', 's1_others');

CREATE TABLE "lead_tally" (
    "workspace_id" UUID NOT NULL,
    "of_id" UUID NOT NULL,
    "kind" "lead_tally_kind" NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "value" TEXT NOT NULL,
    "on_hold" INTEGER NOT NULL,
    "trashed" INTEGER NOT NULL,
    "paid" INTEGER NOT NULL,
    "approved" INTEGER NOT NULL,

    CONSTRAINT "lead_tally_pkey" PRIMARY KEY ("workspace_id","of_id","kind","at","value")
);

CREATE TABLE "lead_tally_entry" (
    "id" BIGSERIAL NOT NULL,
    "workspace_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "campaign_id" UUID NOT NULL,
    "lp_name" TEXT,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "status" "lead_status" NOT NULL,
    "leads" INTEGER NOT NULL,
    "s1" TEXT[] NOT NULL,

    CONSTRAINT "lead_tally_entry_pkey" PRIMARY KEY ("id")
);

-- Every zone's days and hours begin at a quarter of an hour in UTC.
CREATE FUNCTION "lead_tally_time"(timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN date_bin('15 minutes', $1, '2000-01-01T00:00:00Z');

-- A landing page's name of more than 255 characters is no name to list it by.
CREATE FUNCTION "lead_tally_name"(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN length($1) <= 255 THEN $1 END;

CREATE FUNCTION "count_inserted_leads"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "lead_tally_entry"
        ("workspace_id", "user_id", "campaign_id", "lp_name", "at", "status", "leads", "s1")
    SELECT "workspace_id", "user_id", "campaign_id", "lead_tally_name"("lp_name"), "lead_tally_time"("created_at"),
        "status", count(*), array_remove(array_agg("s1"), NULL)
    FROM "inserted" GROUP BY 1, 2, 3, 4, 5, 6;
    RETURN NULL;
END
$$;

CREATE FUNCTION "count_changed_lead"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "lead_tally_entry"
        ("workspace_id", "user_id", "campaign_id", "lp_name", "at", "status", "leads", "s1")
    SELECT "workspace_id", "user_id", "campaign_id", "lead_tally_name"("lp_name"), "lead_tally_time"("created_at"),
        "status", leads, array_remove(ARRAY["s1"], NULL)
    FROM (SELECT OLD.*, -1 AS leads UNION ALL SELECT NEW.*, 1 WHERE TG_OP = 'UPDATE') AS changed;
    RETURN NULL;
END
$$;

CREATE TRIGGER "lead_tally_inserted" AFTER INSERT ON "lead" REFERENCING NEW TABLE AS "inserted"
    FOR EACH STATEMENT EXECUTE FUNCTION "count_inserted_leads"();

CREATE TRIGGER "lead_tally_updated" AFTER UPDATE ON "lead" FOR EACH ROW
    WHEN ((OLD."workspace_id", OLD."user_id", OLD."campaign_id", OLD."lp_name", OLD."s1", OLD."created_at", OLD."status")
        IS DISTINCT FROM
        (NEW."workspace_id", NEW."user_id", NEW."campaign_id", NEW."lp_name", NEW."s1", NEW."created_at", NEW."status"))
    EXECUTE FUNCTION "count_changed_lead"();

CREATE TRIGGER "lead_tally_deleted" AFTER DELETE ON "lead" FOR EACH ROW EXECUTE FUNCTION "count_changed_lead"();

-- The leads that are there already. Since the triggers were made, nobody else writes until this is committed.
INSERT INTO "lead_tally_entry"
    ("workspace_id", "user_id", "campaign_id", "lp_name", "at", "status", "leads", "s1")
SELECT "workspace_id", "user_id", "campaign_id", "lead_tally_name"("lp_name"), "lead_tally_time"("created_at"),
    "status", count(*), array_remove(array_agg("s1"), NULL)
FROM "lead" GROUP BY 1, 2, 3, 4, 5, 6;
