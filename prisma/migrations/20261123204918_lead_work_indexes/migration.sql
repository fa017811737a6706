-- leads: no transaction
-- Partial, so that the insert of a lead without an assignee or a call-back does not write to the indexes.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "lead_by_assignee_idx" ON "lead"("workspace_id", "assignee_id", "created_at", "id") WHERE (assignee_id IS NOT NULL);
CREATE INDEX CONCURRENTLY IF NOT EXISTS "lead_by_callback_idx" ON "lead"("workspace_id", "callback_at", "id") WHERE (callback_at IS NOT NULL);
