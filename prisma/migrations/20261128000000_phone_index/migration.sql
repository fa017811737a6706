-- leads: no transaction
-- The index also has the campaign and the creation time, so that the search for duplicates reads one entry for each phone
-- number, and not all leads with the number. Its first two columns are those of the old index, which lists and searches use.
-- The campaign is null for a number without an E.164 form: such a lead is no original, even if it has the same digits.
-- No other index has an order with NULLS FIRST. In the order of another index, Postgres would read all leads of a workspace
-- for a new number if most leads have the same number.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "lead_by_phone_idx" ON "lead"(
    "workspace_id",
    left(reverse(regexp_replace(coalesce("phone_e164", "phone"), '[^0-9]', '', 'g')), 32) text_pattern_ops,
    (CASE WHEN "phone_e164" IS NOT NULL THEN "campaign_id" END),
    "created_at" NULLS FIRST,
    "id" NULLS FIRST
);
DROP INDEX CONCURRENTLY IF EXISTS "lead_workspace_id_phone_idx";
