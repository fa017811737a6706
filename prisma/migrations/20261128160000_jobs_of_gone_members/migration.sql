-- leads: allow drop: the release before reads no jobs by their members, and its jobs keep their users
-- leads: allow constraint: each workspace has few jobs
-- The jobs of a member who leaves the workspace are kept, so that their changes can be undone. They were deleted.
ALTER TABLE "lead_job"
    DROP CONSTRAINT "lead_job_workspace_id_user_id_fkey",
    ADD CONSTRAINT "lead_job_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE
        NOT VALID;

-- A job that has not ended fails. The release before would not claim it, and then no job after it. Its filters lose personal
-- data as in lead-job-store.prisma.ts.
CREATE FUNCTION "fail_jobs_of_member"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE "lead_job" SET
        "state" = 'failed', "finished_at" = now(), "planned" = NULL,
        "filters" = "filters" || (
            SELECT coalesce(jsonb_object_agg("name", '*'::text), '{}')
            FROM jsonb_object_keys("filters") AS "name" WHERE "name" IN ('q', 'phone')
        )
    WHERE "workspace_id" = OLD."workspace_id" AND "user_id" = OLD."user_id" AND "finished_at" IS NULL;
    RETURN NULL;
END
$$;

CREATE TRIGGER "member_removed" AFTER DELETE ON "member" FOR EACH ROW EXECUTE FUNCTION "fail_jobs_of_member"();

-- The function runs with the rights of the owner of the tables.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION fail_jobs_of_member() SECURITY DEFINER SET search_path = %I, pg_temp', current_schema());
    REVOKE EXECUTE ON FUNCTION "fail_jobs_of_member"() FROM PUBLIC;
END
$$;
