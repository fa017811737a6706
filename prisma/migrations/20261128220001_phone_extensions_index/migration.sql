-- leads: no transaction
-- Reads the numbers of all leads again. The index stays usable meanwhile. An interrupted run leaves the invalid index
-- "lead_by_phone_end_idx_ccnew": it is named here, so that the next run drops it first.
REINDEX INDEX CONCURRENTLY "lead_by_phone_end_idx";
