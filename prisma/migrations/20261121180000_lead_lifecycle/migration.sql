-- For an index that holds a workspace beside words.
CREATE EXTENSION IF NOT EXISTS btree_gin;

ALTER TABLE "campaign" ADD COLUMN "duplicate_window_seconds" INTEGER;

ALTER TABLE "lead"
    ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1,
    ADD COLUMN "content_hash" BYTEA,
    ADD COLUMN "duplicate_of" UUID,
    ADD COLUMN "words" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- As near as SQL comes to the words that the services write.
UPDATE "lead" SET "words" = ARRAY(
    SELECT left("word", 64)
    FROM unnest(
        ARRAY[left(regexp_replace("phone", '[^0-9]', '', 'g'), 32), substr("phone_e164", 2)]
        || regexp_split_to_array(
            regexp_replace(
                normalize(lower(left("name", 1000) || ' ' || left(coalesce("email", ''), 1000)), NFKD),
                U&'[\0300-\036F]', '', 'g'
            ),
            '[^[:alnum:]]+'
        )
    ) WITH ORDINALITY AS "each"("word", "place")
    WHERE "word" <> ''
    ORDER BY "place"
    LIMIT 32
);

CREATE TABLE "lead_change" (
    "lead_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "user_id" UUID NOT NULL,
    "from_status" "lead_status",
    "to_status" "lead_status",
    "reason" TEXT,
    "fields" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "lead_change_pkey" PRIMARY KEY ("lead_id", "version")
);

CREATE INDEX "lead_workspace_id_updated_at_id_idx" ON "lead"("workspace_id", "updated_at" DESC, "id" DESC);

CREATE INDEX "lead_workspace_id_status_created_at_id_idx" ON "lead"("workspace_id", "status", "created_at" DESC, "id" DESC);

CREATE INDEX "lead_workspace_id_source_created_at_id_idx" ON "lead"("workspace_id", "source", "created_at" DESC, "id" DESC);

CREATE INDEX "lead_campaign_id_created_at_id_idx" ON "lead"("campaign_id", "created_at" DESC, "id" DESC);

CREATE INDEX "lead_workspace_id_s1_created_at_id_idx" ON "lead"("workspace_id", "s1", "created_at" DESC, "id" DESC) WHERE (s1 IS NOT NULL);

ALTER TABLE "lead_change" ADD CONSTRAINT "lead_change_lead_id_fkey" FOREIGN KEY ("lead_id") REFERENCES "lead"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "lead_change" ADD CONSTRAINT "lead_change_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;


-- What Prisma's schema cannot say. Texts are cut: an index holds no more than 2.7 kB of them.

-- The digits of the phone number from the end, so that a number is found without knowing how it begins.
CREATE INDEX "lead_workspace_id_phone_idx" ON "lead"(
    "workspace_id",
    left(reverse(regexp_replace(coalesce("phone_e164", "phone"), '[^0-9]', '', 'g')), 32) text_pattern_ops
);

CREATE INDEX "lead_workspace_id_lp_name_created_at_id_idx" ON "lead"("workspace_id", left("lp_name", 255), "created_at" DESC, "id" DESC)
    WHERE ("lp_name" IS NOT NULL);

CREATE INDEX "lead_workspace_id_words_idx" ON "lead" USING gin ("workspace_id", array_to_tsvector("words"));

ALTER TABLE "campaign"
    ADD CONSTRAINT "campaign_duplicate_window_seconds_check" CHECK ("duplicate_window_seconds" BETWEEN 1 AND 315360000);

ALTER TABLE "lead"
    ALTER COLUMN "words" SET NOT NULL,
    ADD CONSTRAINT "lead_version_check" CHECK ("version" >= 1),
    ADD CONSTRAINT "lead_content_hash_check" CHECK (octet_length("content_hash") = 32),
    ADD CONSTRAINT "lead_duplicate_of_check" CHECK ("duplicate_of" <> "id");

ALTER TABLE "lead_change"
    -- The first version is the lead's creation, which the lead's own row tells.
    ADD CONSTRAINT "lead_change_version_check" CHECK ("version" >= 2),
    ADD CONSTRAINT "lead_change_content_check" CHECK (
        num_nulls("from_status", "to_status") IN (0, 2) AND num_nonnulls("to_status", "fields") >= 1
    ),
    ADD CONSTRAINT "lead_change_transition_check" CHECK (("from_status", "to_status") IN (
        ('OnHold', 'Approved'), ('OnHold', 'Trashed'),
        ('Approved', 'Paid'), ('Approved', 'OnHold'), ('Approved', 'Trashed'),
        ('Trashed', 'OnHold'),
        ('Paid', 'Approved')
    )),
    ADD CONSTRAINT "lead_change_reason_check" CHECK (
        CASE WHEN "reason" IS NULL THEN coalesce("to_status" <> 'Trashed' AND "from_status" <> 'Paid', true)
            ELSE "reason" <> '' AND length("reason") <= 1000 END
    ),
    ADD CONSTRAINT "lead_change_fields_check" CHECK (jsonb_typeof("fields") = 'object' AND "fields" <> '{}');

CREATE FUNCTION "refuse_change_of_history"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The history of leads is only ever added to' USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER "lead_change_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "lead_change"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change_of_history"();
