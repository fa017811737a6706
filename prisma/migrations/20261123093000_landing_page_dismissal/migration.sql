-- Since when a landing page that waits for approval is dismissed. The previous release lists it as waiting.
ALTER TABLE "landing_page" ADD COLUMN "dismissed_at" TIMESTAMPTZ(3);
