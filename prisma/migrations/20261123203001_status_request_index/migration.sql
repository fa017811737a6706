-- leads: no transaction
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "lead_change_request_id_key" ON "lead_change"("request_id") WHERE (request_id IS NOT NULL);
