-- leads: no transaction
-- The release before searches phone numbers by this index. Without it, it reads all leads of the workspace instead, until it
-- is replaced (docker/UPGRADES.md). With it, each insert would still compute the unbounded expression.
DROP INDEX CONCURRENTLY IF EXISTS "lead_by_phone_idx";
