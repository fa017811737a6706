-- leads: no transaction
-- The leads of a country. Leads without a country are not in the index, so a lead of the intake costs nothing more. A
-- longer text might not fit into an index.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "lead_by_country_idx" ON "lead"("workspace_id", left("country", 64), "created_at", "id")
    WHERE "country" IS NOT NULL;
