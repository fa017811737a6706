-- leads: allow constraint: each workspace has few jobs
-- The changes of a job, and of an assignment of several leads, can be undone together.
ALTER TABLE "lead_change" ADD COLUMN "bulk_id" UUID;

-- A job that undoes another one has a state that the release before does not claim: it would change all leads that match
-- the filters instead.
ALTER TABLE "lead_job"
    ADD COLUMN "undoes" UUID,
    DROP CONSTRAINT "lead_job_state_check",
    ADD CONSTRAINT "lead_job_state_check" CHECK (
        "state" IN ('running', 'undoing', 'done', 'cancelled', 'failed')
        AND ("state" IN ('running', 'undoing')) = ("finished_at" IS NULL)
        AND ("state" <> 'running' OR "undoes" IS NULL)
        AND ("state" <> 'undoing' OR "undoes" IS NOT NULL)
    );
