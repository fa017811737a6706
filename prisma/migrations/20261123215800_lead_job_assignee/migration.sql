-- leads: allow constraint: each workspace has few jobs
-- leads: allow backfill: each workspace has few jobs, and they are kept for 30 days
-- Jobs can set the assignee of leads. A job without a new assignee removes the present one.
ALTER TABLE "lead_job"
    ALTER COLUMN "status" DROP NOT NULL,
    ADD COLUMN "assignee_id" UUID,
    DROP CONSTRAINT "lead_job_action_check",
    ADD CONSTRAINT "lead_job_action_check" CHECK (
        ("action" = 'status' AND "status" IS NOT NULL AND "assignee_id" IS NULL)
        OR ("action" = 'assign' AND "status" IS NULL AND "reason" IS NULL)
    );

-- Jobs that have ended keep no personal data. Newer jobs lose it at their end.
UPDATE "lead_job" SET "filters" = "filters" || (
    SELECT coalesce(jsonb_object_agg("name", '*'), '{}') FROM jsonb_object_keys("filters") AS "name"
    WHERE "name" IN ('q', 'phone')
) WHERE "state" <> 'running' AND "filters" ?| '{q,phone}';
