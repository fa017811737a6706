-- Which requests events came of, for those who trace requests: by lead, a traceparent (W3C Trace Context). It comes with
-- the statement that writes the leads, as a setting of its transaction, of which the triggers need not know.
ALTER TABLE "lead_outbox" ADD COLUMN "trace_parents" JSONB;
ALTER TABLE "lead_outbox" ALTER COLUMN "trace_parents"
    SET DEFAULT (NULLIF(current_setting('leads.trace_parents'::text, true), ''::text))::jsonb;
