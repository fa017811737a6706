-- The account library does not write the column any longer. The release before reads it.
ALTER TABLE "account" ALTER COLUMN "issuer" SET DEFAULT 'local:credential';
