-- A payment whose step fails waits, so that it does not delay other payments.
-- leads: allow constraint: payments are few, and the new columns have no values yet
ALTER TABLE "payment"
    ADD COLUMN "failures" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "last_error" TEXT,
    ADD COLUMN "retry_at" TIMESTAMPTZ(3),
    ADD CONSTRAINT "payment_failure_check" CHECK (
        "failures" = 0 AND num_nonnulls("last_error", "retry_at") = 0
        OR "failures" > 0 AND "last_error" IN ('unavailable', 'rejected') AND "retry_at" IS NOT NULL
    );
