-- The browser key whose lead registered a landing page, and since when the landing page waits for the approval of a
-- manager. Anyone can send names with a browser key, so the pages that it registers are capped for each day.
ALTER TABLE "landing_page" ADD COLUMN "registered_by" UUID, ADD COLUMN "pending_since" TIMESTAMPTZ(3);
