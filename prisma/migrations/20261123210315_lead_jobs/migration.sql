-- Jobs for all leads that match filters. A row is both the queue of the job and its report.
CREATE TABLE "lead_job" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "action" TEXT NOT NULL,
    "filters" JSONB NOT NULL,
    "status" "lead_status" NOT NULL,
    "reason" TEXT,
    "state" TEXT NOT NULL DEFAULT 'running',
    "total" INTEGER,
    "changed" INTEGER NOT NULL DEFAULT 0,
    "refused" INTEGER NOT NULL DEFAULT 0,
    "refusals" JSONB NOT NULL DEFAULT '[]',
    "planned" JSONB,
    "after_time" TIMESTAMPTZ(3),
    "after_id" UUID,
    "next_step_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lease_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "lead_job_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "lead_job_action_check" CHECK ("action" = 'status'),
    CONSTRAINT "lead_job_state_check" CHECK (
        "state" IN ('running', 'done', 'cancelled', 'failed') AND ("state" = 'running') = ("finished_at" IS NULL)
    ),
    CONSTRAINT "lead_job_filters_check" CHECK (jsonb_typeof("filters") = 'object'),
    CONSTRAINT "lead_job_refusals_check" CHECK (jsonb_typeof("refusals") = 'array'),
    CONSTRAINT "lead_job_reason_check" CHECK (char_length("reason") BETWEEN 1 AND 1000)
);

CREATE INDEX "lead_job_workspace_id_created_at_idx" ON "lead_job"("workspace_id", "created_at" DESC);
CREATE INDEX "lead_job_next_step_at_idx" ON "lead_job"("next_step_at") WHERE (state = 'running');

ALTER TABLE "lead_job" ADD CONSTRAINT "lead_job_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "lead_job" ADD CONSTRAINT "lead_job_workspace_id_user_id_fkey" FOREIGN KEY ("workspace_id", "user_id") REFERENCES "member"("workspace_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "lead_job" ENABLE ROW LEVEL SECURITY;
