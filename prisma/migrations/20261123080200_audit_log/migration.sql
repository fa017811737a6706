-- Actions in a workspace that concern its security: who did what, when, and from where. It refers to no other table,
-- because an entry outlives its user and its workspace.
CREATE TABLE "audit_entry" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "action" TEXT NOT NULL,
    "source" TEXT NOT NULL,
    "actor_id" UUID,
    "api_key_id" UUID,
    "address" INET,
    "user_agent" TEXT,
    "target_id" TEXT,
    "details" JSONB NOT NULL,

    CONSTRAINT "audit_entry_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "audit_entry_workspace_id_at_id_idx" ON "audit_entry"("workspace_id", "at", "id");
CREATE INDEX "audit_entry_at_idx" ON "audit_entry"("at");
ALTER TABLE "audit_entry"
    ADD CONSTRAINT "audit_entry_source_check" CHECK ("source" IN ('website', 'api', 'cli')),
    ADD CONSTRAINT "audit_entry_details_check" CHECK (jsonb_typeof("details") = 'object');

-- Only the owner of the table deletes entries past their retention. The role of a service cannot, whatever its grants.
CREATE FUNCTION "refuse_change_of_audit_log"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('leads.erasing', true) = 'on'
        AND pg_has_role(current_user, (SELECT "relowner" FROM "pg_class" WHERE "oid" = TG_RELID), 'USAGE') THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'The audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER "audit_entry_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_entry"
    FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change_of_audit_log"();
