-- As before, with the expression of the index "lead_by_phone_end_idx". It finds the same leads: an E.164 number is shorter.
CREATE OR REPLACE FUNCTION "first_leads_of_phones"(
    keys text[], workspace_ids uuid[], campaign_ids uuid[], phones_e164 text[], since timestamptz[]
) RETURNS TABLE ("key" text, "first" uuid) LANGUAGE sql STABLE AS $$
    SELECT sent.key, coalesce(newest.duplicate_of, newest.id)
    FROM unnest(keys, workspace_ids, campaign_ids, phones_e164, since)
        AS sent (key, workspace_id, campaign_id, phone_e164, since)
    CROSS JOIN LATERAL (
        -- The conditions and the order are those of the index. E.164 numbers with the same digits are equal.
        SELECT id, duplicate_of, created_at FROM "lead"
        WHERE "lead".workspace_id = sent.workspace_id
            AND "phone_end"("lead".phone_e164, "lead".phone) = reverse(substr(sent.phone_e164, 2))
            AND (CASE WHEN "lead".phone_e164 IS NOT NULL THEN "lead".campaign_id END) = sent.campaign_id
        ORDER BY created_at DESC NULLS LAST, id DESC NULLS LAST LIMIT 1
    ) AS newest
    WHERE newest.created_at >= sent.since
$$;

-- The function runs with the rights of the owner of the tables. Without sorts, Postgres reads the index whatever the
-- statistics say: it could keep a plan from a time when the table had one page.
DO $$
DECLARE
    named CONSTANT regprocedure := 'first_leads_of_phones(text[], uuid[], uuid[], text[], timestamptz[])';
BEGIN
    EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp SET enable_sort = off', named, current_schema());
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', named);
END
$$;
