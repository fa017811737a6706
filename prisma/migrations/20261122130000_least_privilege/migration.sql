-- So that a service can be given a role of its own that may do its work and nothing else (`leads db grant`).

-- What a service may not read and has to be told: of phone numbers, the first lead of each that a campaign has seen since
-- a time.
CREATE FUNCTION "first_leads_of_phones"(
    keys text[], workspace_ids uuid[], campaign_ids uuid[], phones_e164 text[], since timestamptz[]
) RETURNS TABLE ("key" text, "first" uuid) LANGUAGE sql STABLE AS $$
    SELECT sent.key, found.first
    FROM unnest(keys, workspace_ids, campaign_ids, phones_e164, since)
        AS sent (key, workspace_id, campaign_id, phone_e164, since)
    CROSS JOIN LATERAL (
        -- Aggregated and not ordered with a limit, which would tempt the planner to walk the campaign by time.
        SELECT (array_agg(coalesce(duplicate_of, id) ORDER BY created_at DESC, id DESC))[1] AS first
        FROM "lead"
        WHERE "lead".workspace_id = sent.workspace_id AND "lead".campaign_id = sent.campaign_id
            AND left(reverse(regexp_replace(coalesce("lead".phone_e164, "lead".phone), '[^0-9]', '', 'g')), 32)
                = reverse(substr(sent.phone_e164, 2))
            AND "lead".phone_e164 = sent.phone_e164 AND "lead".created_at >= sent.since
    ) AS found
    WHERE found.first IS NOT NULL
$$;

-- These work with the rights of who owns the tables, whoever calls them or sets them off, and find the tables wherever
-- that one's settings lead. Nobody else may make triggers of them.
DO $$
DECLARE
    named regprocedure;
BEGIN
    FOREACH named IN ARRAY ARRAY[
        'note_inserted_leads()', 'note_changed_leads()', 'count_changed_lead()', 'keep_campaign_of_leads()',
        'keep_user_of_leads()', 'first_leads_of_phones(text[], uuid[], uuid[], text[], timestamptz[])'
    ]::regprocedure[] LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', named, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', named);
    END LOOP;
END
$$;
