-- Mails to members about endpoints that fail or were disabled.
ALTER TABLE "delivery_endpoint" ADD COLUMN "noticed_at" TIMESTAMPTZ(3);

CREATE TABLE "delivery_notice" (
    "endpoint_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lease_id" UUID,

    CONSTRAINT "delivery_notice_pkey" PRIMARY KEY ("endpoint_id", "user_id")
);
CREATE INDEX "delivery_notice_next_attempt_at_idx" ON "delivery_notice"("next_attempt_at");

ALTER TABLE "delivery_notice" ADD CONSTRAINT "delivery_notice_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "delivery_endpoint"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "delivery_notice" ADD CONSTRAINT "delivery_notice_workspace_id_user_id_fkey" FOREIGN KEY ("workspace_id", "user_id") REFERENCES "member"("workspace_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "delivery_notice" ENABLE ROW LEVEL SECURITY;
