-- Two functions compare repeated requests with stored leads. The intake can read no lead, so they run with the rights of
-- the tables' owner. They return no data of a lead.

-- Returns the positions of the given leads whose id is stored with other content.
CREATE FUNCTION "differing_leads"(ids uuid[], hashes text[]) RETURNS TABLE ("position" bigint) LANGUAGE sql STABLE AS $$
    SELECT sent.position
    FROM unnest(ids, hashes) WITH ORDINALITY AS sent (id, hash, position)
    JOIN "lead" ON "lead".id = sent.id
    WHERE encode("lead".content_hash, 'hex') IS DISTINCT FROM sent.hash
$$;

-- Returns the positions of the given leads that the release before stored, under an id of the workspace and the
-- Idempotency-Key. The intake of that release stored no content hash, so the content itself is compared.
CREATE FUNCTION "earlier_leads"(
    ids uuid[], since timestamptz, user_ids uuid[], hashes text[], sources text[], names text[], phones text[],
    addresses text[], s1s text[], lp_names text[], extras text[]
) RETURNS TABLE ("position" bigint) LANGUAGE sql STABLE AS $$
    SELECT sent.position
    FROM unnest(ids, user_ids, hashes, sources, names, phones, addresses, s1s, lp_names, extras)
        WITH ORDINALITY
        AS sent (id, user_id, hash, source, name, phone, address, s1, lp_name, extra, position)
    JOIN "lead" ON "lead".id = sent.id AND "lead".user_id = sent.user_id AND "lead".created_at >= since
    WHERE encode("lead".content_hash, 'hex') = sent.hash
        OR ("lead".content_hash IS NULL AND "lead".source = 'intake' AND sent.source = 'intake'
            AND ("lead".name, "lead".phone) = (sent.name, sent.phone)
            AND "lead".address IS NOT DISTINCT FROM sent.address
            AND "lead".s1 IS NOT DISTINCT FROM sent.s1
            AND "lead".lp_name IS NOT DISTINCT FROM sent.lp_name
            AND "lead".extra IS NOT DISTINCT FROM sent.extra::jsonb)
$$;

DO $$
DECLARE
    named regprocedure;
BEGIN
    FOREACH named IN ARRAY ARRAY[
        'differing_leads(uuid[], text[])',
        'earlier_leads(uuid[], timestamptz, uuid[], text[], text[], text[], text[], text[], text[], text[], text[])'
    ]::regprocedure[] LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %I, pg_temp', named, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', named);
    END LOOP;
END
$$;
