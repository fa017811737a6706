-- Names of a workspace for the statuses, such as the words of a call center.
CREATE TABLE "status_alias" (
    "workspace_id" UUID NOT NULL,
    "alias" TEXT NOT NULL,
    "status" "lead_status" NOT NULL,
    "reason" TEXT,

    CONSTRAINT "status_alias_pkey" PRIMARY KEY ("workspace_id", "alias"),
    CONSTRAINT "status_alias_alias_check" CHECK ("alias" = btrim("alias") AND char_length("alias") BETWEEN 1 AND 256),
    CONSTRAINT "status_alias_reason_check" CHECK (char_length("reason") BETWEEN 1 AND 1000)
);

ALTER TABLE "status_alias" ADD CONSTRAINT "status_alias_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "status_alias" ENABLE ROW LEVEL SECURITY;
