-- leads: no transaction
-- Reads all leads, and blocks no other session.
ALTER TABLE "lead" VALIDATE CONSTRAINT "lead_payout_and_hold_check";
ALTER TABLE "lead" DROP CONSTRAINT IF EXISTS "lead_payout_check", DROP CONSTRAINT IF EXISTS "lead_hold_reason_check";
