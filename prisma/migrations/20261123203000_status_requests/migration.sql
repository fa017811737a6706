-- The line of an import that changed a status, so that a repeated import does not change it again.
ALTER TABLE "lead_change" ADD COLUMN "request_id" UUID;
