-- leads: no transaction
-- Reads all leads, and blocks no other session.
ALTER TABLE "lead" VALIDATE CONSTRAINT "lead_payout_check";
