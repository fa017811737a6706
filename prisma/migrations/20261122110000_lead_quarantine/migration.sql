-- Leads that were taken while Postgres was away, and that it refused when they were to be stored: a campaign may have
-- been deleted meanwhile. They are kept whole, to be stored once the reason is gone.
CREATE TABLE "lead_quarantine" (
    "id" UUID NOT NULL,
    "lead" JSONB NOT NULL,
    "reason" TEXT,
    "quarantined_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "lead_quarantine_pkey" PRIMARY KEY ("id")
);
