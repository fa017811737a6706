-- Views of the lead list. A view without a user is shared: it belongs to the workspace.
CREATE TABLE "saved_view" (
    "id" UUID NOT NULL,
    "workspace_id" UUID NOT NULL,
    "user_id" UUID,
    "name" TEXT NOT NULL,
    "filters" JSONB NOT NULL,
    "sort" TEXT,
    "columns" TEXT[],
    "widths" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "saved_view_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "saved_view_name_check" CHECK (char_length("name") BETWEEN 1 AND 255),
    CONSTRAINT "saved_view_filters_check" CHECK (jsonb_typeof("filters") = 'object'),
    CONSTRAINT "saved_view_widths_check" CHECK (jsonb_typeof("widths") = 'object')
);

CREATE INDEX "saved_view_workspace_id_user_id_idx" ON "saved_view"("workspace_id", "user_id");

ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspace"("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "saved_view" ADD CONSTRAINT "saved_view_workspace_id_user_id_fkey" FOREIGN KEY ("workspace_id", "user_id") REFERENCES "member"("workspace_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "saved_view" ENABLE ROW LEVEL SECURITY;
