-- leads: no transaction
-- Partial, so that the insert of a lead without a timer does not write to the index. It holds the leads that wait.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "lead_by_approval_idx" ON "lead"("approve_at") WHERE (approve_at IS NOT NULL AND status = 'OnHold'::lead_status AND hold_reason IS NULL);
ALTER TABLE "lead" VALIDATE CONSTRAINT "lead_hold_reason_check";
ALTER TABLE "lead_change" VALIDATE CONSTRAINT "lead_change_user_id_check";
