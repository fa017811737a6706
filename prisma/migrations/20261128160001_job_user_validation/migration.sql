-- leads: no transaction
-- Reads all jobs, and blocks no other session.
ALTER TABLE "lead_job" VALIDATE CONSTRAINT "lead_job_user_id_fkey";
