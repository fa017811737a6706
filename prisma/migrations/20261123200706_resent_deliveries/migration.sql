-- A delivery that a member sends again is sent even if its request equals the last one for the lead.
ALTER TABLE "delivery" ADD COLUMN "is_resent" BOOLEAN NOT NULL DEFAULT false;
