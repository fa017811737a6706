-- leads: no transaction
CREATE INDEX CONCURRENTLY IF NOT EXISTS "lead_change_bulk_id_lead_id_idx" ON "lead_change"("bulk_id", "lead_id") WHERE (bulk_id IS NOT NULL);

-- The release before uses lead_job_next_step_at_idx, which has no undoing jobs.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "lead_job_unfinished_idx" ON "lead_job"("next_step_at") WHERE (finished_at IS NULL);
