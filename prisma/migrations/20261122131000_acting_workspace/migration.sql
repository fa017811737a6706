-- For row-level security, which `leads db grant` switches on for the roles that it makes: what a transaction does, it does
-- for one workspace. Where none is said, none is meant, and no row is any workspace's.
CREATE FUNCTION "acting_workspace"() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    RETURN NULLIF(current_setting('leads.workspace', true), '')::uuid;

-- The same for searches. Under row-level security Postgres uses an index for the few conditions only that cannot tell
-- anything of other rows, which those of words, phone numbers and landing pages are not among. It has the columns that there
-- are now: a migration that adds one has to replace it, one that takes one away to make it anew.
CREATE VIEW "lead_of_workspace" AS SELECT * FROM "lead" WHERE "workspace_id" = "acting_workspace"();

-- What the relay is told of, whose the leads may be: those that events wait of, of each row that many.
CREATE FUNCTION "leads_of_outbox"(outbox_ids bigint[], most integer) RETURNS SETOF "lead" LANGUAGE sql STABLE AS $$
    SELECT "lead".* FROM "lead" WHERE "lead"."id" IN (
        SELECT unnest("lead_ids"[:most]) FROM "lead_outbox" WHERE "lead_outbox"."id" = ANY(outbox_ids)
    )
$$;

CREATE FUNCTION "changes_of_outbox"(outbox_ids bigint[], most integer) RETURNS SETOF "lead_change" LANGUAGE sql STABLE AS $$
    SELECT "lead_change".* FROM "lead_change" WHERE "lead_change"."lead_id" IN (
        SELECT unnest("lead_ids"[:most]) FROM "lead_outbox" WHERE "lead_outbox"."id" = ANY(outbox_ids)
    )
$$;

-- As in the migration before.
DO $$
DECLARE
    named regprocedure;
BEGIN
    FOREACH named IN ARRAY
        ARRAY['leads_of_outbox(bigint[], integer)', 'changes_of_outbox(bigint[], integer)']::regprocedure[]
    LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', named, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', named);
    END LOOP;
END
$$;
