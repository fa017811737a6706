-- leads: allow backfill: a workspace has at most 100 pending invitations
-- An invitation is pending only while its sender is an owner of the workspace. Otherwise an owner who is removed could become an
-- owner again, by an invitation to another address of the same person.
CREATE FUNCTION "cancel_invitations_of_owner"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW."role" IS DISTINCT FROM 'owner' THEN
        UPDATE "invitation" SET "status" = 'canceled'
        WHERE "workspace_id" = OLD."workspace_id" AND "inviter_id" = OLD."user_id" AND "status" = 'pending';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER "owner_removed" AFTER DELETE OR UPDATE OF "role" ON "member" FOR EACH ROW
WHEN (OLD."role" = 'owner') EXECUTE FUNCTION "cancel_invitations_of_owner"();

-- The lock makes the removal of the owner wait for this invitation, or this invitation wait for the removal.
CREATE FUNCTION "check_sender_of_invitation"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM "member"
    WHERE "workspace_id" = NEW."workspace_id" AND "user_id" = NEW."inviter_id" AND "role" = 'owner' FOR SHARE;
    IF NOT FOUND THEN
        NEW."status" := 'canceled';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER "invitation_sent" BEFORE INSERT ON "invitation" FOR EACH ROW
WHEN (NEW."status" = 'pending') EXECUTE FUNCTION "check_sender_of_invitation"();

UPDATE "invitation" SET "status" = 'canceled'
WHERE "status" = 'pending' AND NOT EXISTS (
    SELECT FROM "member"
    WHERE "member"."workspace_id" = "invitation"."workspace_id" AND "member"."user_id" = "inviter_id" AND "role" = 'owner'
);

-- The functions run with the rights of the owner of the tables.
DO $$
DECLARE
    "function" text;
BEGIN
    FOREACH "function" IN ARRAY ARRAY['cancel_invitations_of_owner', 'check_sender_of_invitation'] LOOP
        EXECUTE format('ALTER FUNCTION %I() SECURITY DEFINER SET search_path = %I, pg_temp', "function", current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %I() FROM PUBLIC', "function");
    END LOOP;
END
$$;
