CREATE TYPE "member_role" AS ENUM ('owner', 'manager', 'publisher');

CREATE TYPE "campaign_status" AS ENUM ('active', 'paused', 'archived');

CREATE TYPE "api_key_scope" AS ENUM ('full', 'intake');

CREATE TYPE "lead_status" AS ENUM ('OnHold', 'Trashed', 'Paid', 'Approved');

CREATE TYPE "lead_source" AS ENUM ('crm', 'intake');

CREATE TABLE "workspace" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "logo" TEXT,
    "metadata" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "workspace_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "user" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "email_verified" BOOLEAN NOT NULL DEFAULT false,
    "image" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "user_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "member" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" "member_role" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "member_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "campaign" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "code" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "status" "campaign_status" NOT NULL DEFAULT 'active',
    "is_default" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "campaign_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "landing_page" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "campaign_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "landing_page_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "api_key" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "scope" "api_key_scope" NOT NULL DEFAULT 'full',
    "default_campaign_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "access_token" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "access_token_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "lead" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "campaign_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "source" "lead_source" NOT NULL,
    "status" "lead_status" NOT NULL,
    "name" TEXT NOT NULL,
    "phone" TEXT NOT NULL,
    "phone_e164" TEXT,
    "address" TEXT,
    "email" TEXT,
    "country" TEXT,
    "region" TEXT,
    "city" TEXT,
    "street" TEXT,
    "zipcode" TEXT,
    "website" TEXT,
    "description" TEXT,
    "state" TEXT,
    "ip" INET,
    "s1" TEXT,
    "lp_name" TEXT,
    "extra" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lead_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "workspace_slug_key" ON "workspace"("slug");

CREATE UNIQUE INDEX "user_email_key" ON "user"("email");

CREATE INDEX "member_user_id_idx" ON "member"("user_id");

CREATE UNIQUE INDEX "member_workspace_id_user_id_key" ON "member"("workspace_id", "user_id");

CREATE UNIQUE INDEX "campaign_workspace_id_code_key" ON "campaign"("workspace_id", "code");

CREATE UNIQUE INDEX "campaign_workspace_id_id_key" ON "campaign"("workspace_id", "id");

CREATE UNIQUE INDEX "campaign_workspace_id_default_key" ON "campaign"("workspace_id") WHERE (is_default);

CREATE UNIQUE INDEX "landing_page_workspace_id_name_key" ON "landing_page"("workspace_id", "name");

CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key"("hash");

CREATE INDEX "api_key_workspace_id_user_id_idx" ON "api_key"("workspace_id", "user_id");

CREATE INDEX "access_token_workspace_id_user_id_idx" ON "access_token"("workspace_id", "user_id");

CREATE INDEX "lead_workspace_id_created_at_id_idx" ON "lead"("workspace_id", "created_at" DESC, "id" DESC);

CREATE INDEX "lead_workspace_id_user_id_created_at_id_idx" ON "lead"("workspace_id", "user_id", "created_at" DESC, "id" DESC);

ALTER TABLE "member" ADD CONSTRAINT "member_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "member" ADD CONSTRAINT "member_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "campaign" ADD CONSTRAINT "campaign_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "landing_page" ADD CONSTRAINT "landing_page_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "landing_page" ADD CONSTRAINT "landing_page_workspace_id_campaign_id_fkey" FOREIGN KEY ("workspace_id", "campaign_id") REFERENCES "campaign"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "api_key" ADD CONSTRAINT "api_key_workspace_id_user_id_fkey" FOREIGN KEY ("workspace_id", "user_id") REFERENCES "member"("workspace_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "api_key" ADD CONSTRAINT "api_key_workspace_id_default_campaign_id_fkey" FOREIGN KEY ("workspace_id", "default_campaign_id") REFERENCES "campaign"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "access_token" ADD CONSTRAINT "access_token_workspace_id_user_id_fkey" FOREIGN KEY ("workspace_id", "user_id") REFERENCES "member"("workspace_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "lead" ADD CONSTRAINT "lead_workspace_id_campaign_id_fkey" FOREIGN KEY ("workspace_id", "campaign_id") REFERENCES "campaign"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "lead" ADD CONSTRAINT "lead_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;


-- What no row may be, whoever writes it. Prisma's schema cannot say these.

ALTER TABLE "workspace"
    ADD CONSTRAINT "workspace_name_check" CHECK ("name" <> ''),
    ADD CONSTRAINT "workspace_slug_check" CHECK ("slug" ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length("slug") <= 63);

ALTER TABLE "user"
    ADD CONSTRAINT "user_name_check" CHECK ("name" <> ''),
    ADD CONSTRAINT "user_email_check" CHECK ("email" = lower("email") AND "email" LIKE '_%@_%');

ALTER TABLE "campaign"
    ADD CONSTRAINT "campaign_code_check" CHECK ("code" <> '' AND length("code") <= 255),
    ADD CONSTRAINT "campaign_name_check" CHECK ("name" <> ''),
    -- A default campaign that takes no leads would lose them.
    ADD CONSTRAINT "campaign_default_active_check" CHECK (NOT "is_default" OR "status" = 'active');

ALTER TABLE "landing_page"
    ADD CONSTRAINT "landing_page_name_check" CHECK ("name" <> '' AND length("name") <= 255);

ALTER TABLE "api_key"
    ADD CONSTRAINT "api_key_name_check" CHECK ("name" <> ''),
    ADD CONSTRAINT "api_key_hash_check" CHECK (octet_length("hash") = 32),
    ADD CONSTRAINT "api_key_prefix_check" CHECK ("prefix" ~ '^lk_[0-9A-Za-z]{8}$'),
    ADD CONSTRAINT "api_key_expires_at_check" CHECK ("expires_at" > "created_at");

ALTER TABLE "access_token"
    ADD CONSTRAINT "access_token_name_check" CHECK ("name" <> ''),
    ADD CONSTRAINT "access_token_expires_at_check" CHECK ("expires_at" > "created_at");

ALTER TABLE "lead"
    ADD CONSTRAINT "lead_name_check" CHECK ("name" <> ''),
    ADD CONSTRAINT "lead_phone_check" CHECK ("phone" <> ''),
    ADD CONSTRAINT "lead_phone_e164_check" CHECK ("phone_e164" ~ '^\+[1-9][0-9]{1,14}$'),
    ADD CONSTRAINT "lead_email_check" CHECK ("email" ~* '\.io$'),
    ADD CONSTRAINT "lead_s1_check" CHECK (length("s1") <= 255),
    ADD CONSTRAINT "lead_extra_check" CHECK (jsonb_typeof("extra") = 'object'),
    ADD CONSTRAINT "lead_updated_at_check" CHECK ("updated_at" >= "created_at");
