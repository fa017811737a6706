-- leads: no transaction
-- As "lead_by_phone_idx", with "phone_end": numbers with digits of other scripts are found, too.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "lead_by_phone_end_idx" ON "lead"(
    "workspace_id",
    "phone_end"("phone_e164", "phone") text_pattern_ops,
    (CASE WHEN "phone_e164" IS NOT NULL THEN "campaign_id" END),
    "created_at" NULLS FIRST,
    "id" NULLS FIRST
);
