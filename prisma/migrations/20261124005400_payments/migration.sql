-- Payments mark the Approved leads of a publisher as Paid, and list them. A row is both the record of the payment and the
-- queue of its work.
CREATE TABLE "payment" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "user_id" UUID NOT NULL,
    "created_by_id" UUID NOT NULL,
    "from_time" TIMESTAMPTZ(3) NOT NULL,
    "to_time" TIMESTAMPTZ(3) NOT NULL,
    "campaign_id" UUID,
    "currency" TEXT NOT NULL,
    "date" DATE NOT NULL,
    "note" TEXT,
    "state" TEXT NOT NULL DEFAULT 'paying',
    "total" INTEGER NOT NULL DEFAULT 0,
    "leads" INTEGER NOT NULL DEFAULT 0,
    "amount" DECIMAL(38,4) NOT NULL DEFAULT 0,
    "skipped" INTEGER NOT NULL DEFAULT 0,
    "returned" INTEGER NOT NULL DEFAULT 0,
    "kept" INTEGER NOT NULL DEFAULT 0,
    "after_id" UUID,
    "last_step_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "cancelled_at" TIMESTAMPTZ(3),
    "cancelled_by_id" UUID,
    "cancel_reason" TEXT,

    CONSTRAINT "payment_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "payment_currency_check" CHECK ("currency" ~ '^[A-Z]{3}$'),
    CONSTRAINT "payment_note_check" CHECK (char_length("note") BETWEEN 1 AND 1000),
    CONSTRAINT "payment_state_check" CHECK (
        "state" IN ('paying', 'paid') AND num_nonnulls("cancelled_at", "cancelled_by_id", "cancel_reason") = 0
        OR "state" IN ('cancelling', 'cancelled') AND num_nonnulls("cancelled_at", "cancelled_by_id", "cancel_reason") = 3
    ),
    CONSTRAINT "payment_counts_check" CHECK (
        "number" > 0 AND "leads" >= 0 AND "amount" >= 0 AND "skipped" >= 0 AND "returned" >= 0 AND "kept" >= 0
        AND "leads" + "skipped" <= "total" AND "returned" + "kept" <= "leads"
    )
);
CREATE UNIQUE INDEX "payment_workspace_id_number_key" ON "payment"("workspace_id", "number");
CREATE INDEX "payment_last_step_at_idx" ON "payment"("last_step_at") WHERE (state = ANY (ARRAY['paying'::text, 'cancelling'::text]));
ALTER TABLE "payment" ADD CONSTRAINT "payment_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "payment" ADD CONSTRAINT "payment_workspace_id_campaign_id_fkey" FOREIGN KEY ("workspace_id", "campaign_id") REFERENCES "campaign"("workspace_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "payment" ADD CONSTRAINT "payment_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "payment" ADD CONSTRAINT "payment_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "payment" ADD CONSTRAINT "payment_cancelled_by_id_fkey" FOREIGN KEY ("cancelled_by_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "payment" ENABLE ROW LEVEL SECURITY;

-- There is no foreign key to the lead, because the payment keeps the amount of an erased lead.
CREATE TABLE "payment_lead" (
    "payment_id" UUID NOT NULL,
    "lead_id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "amount" DECIMAL(16,4) NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'planned',
    "version" INTEGER,

    CONSTRAINT "payment_lead_pkey" PRIMARY KEY ("payment_id","lead_id"),
    CONSTRAINT "payment_lead_amount_check" CHECK ("amount" >= 0),
    CONSTRAINT "payment_lead_state_check" CHECK (
        "state" IN ('planned', 'skipped') AND "version" IS NULL
        OR "state" IN ('paid', 'returned', 'kept') AND "version" IS NOT NULL
    )
);
-- A lead is in one payment at most that is not cancelled.
CREATE UNIQUE INDEX "payment_lead_lead_id_key" ON "payment_lead"("lead_id") WHERE (state = ANY (ARRAY['planned'::text, 'paid'::text]));
ALTER TABLE "payment_lead" ADD CONSTRAINT "payment_lead_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "payment_lead" ENABLE ROW LEVEL SECURITY;
