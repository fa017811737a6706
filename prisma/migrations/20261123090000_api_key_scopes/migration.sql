-- The single scopes of a key, and the networks that its requests must come from. Existing keys have neither: their scope
-- is full or intake, and they work from every address. A key with single scopes has the scope intake as well, so that
-- the CRM of the release before, which does not know single scopes, refuses it.
ALTER TABLE "api_key"
    ADD COLUMN "scopes" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    ADD COLUMN "allowed_networks" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];
-- leads: allow constraint: the table has few rows, and the new columns are empty in all of them
ALTER TABLE "api_key"
    ADD CONSTRAINT "api_key_scopes_check" CHECK (
        "scopes" = '{}'
        OR ("scopes" <@ '{leads:read,leads:write,leads:status,events,admin}' AND "scope" = 'intake' AND "allowed_origins" = '{}')
    ),
    ADD CONSTRAINT "api_key_allowed_networks_check" CHECK (
        "allowed_networks" = '{}' OR (cardinality("allowed_networks") <= 20 AND "allowed_origins" = '{}')
    );
