import type { IsErased } from '../erasure/erasure.ts';
import {
  isAbout,
  type LeadTraces,
  tracesOf,
  tracesOfChange,
  tracesOfNote,
  tracesOfTexts,
} from '../erasure/lead-traces.ts';
import type { StoredLead } from '../lead/lead.ts';
import { firstId } from '../uuid.ts';
import type { Database } from './client.ts';
import { leadsPerTransaction } from './erase-leads.ts';
import { Prisma } from './generated/client.ts';
import { leadTexts } from './lead-rows.ts';
import { withoutNulls } from './without-nulls.ts';

/** The columns that can contain an email address, because people enter one in any field. */
const textColumns = Prisma.raw(leadTexts.join(', '));

/** The number of rows that one statement reads. */
const pageSize = 5_000;

/** Finds leads by their current data and by their histories. */
export async function findLeads({ select }: Database, isErased: IsErased): Promise<Set<string>> {
  const found = new Set<string>();
  let after = { leadId: firstId, version: 0 };
  for (;;) {
    const changes = await select<ChangeRow>(Prisma.sql`
      SELECT lead_id AS "leadId", page.version, workspace_id AS "workspaceId", lead.created_at AS "createdAt", country,
        CASE WHEN fields ? 'phone' OR fields::text LIKE '%@%' THEN fields END AS fields
      FROM (
        SELECT * FROM lead_change WHERE (lead_id, version) > (${after.leadId}::uuid, ${after.version}::int)
        ORDER BY lead_id, version LIMIT ${pageSize}
      ) AS page JOIN lead ON lead.id = lead_id ORDER BY lead_id, page.version`);
    const last = changes.at(-1);
    if (last === undefined) break;
    after = last;
    for (const { leadId, workspaceId, createdAt, country, fields } of changes) {
      if (fields === null) continue;
      const lead = { id: leadId, workspaceId, createdAt, country: country ?? undefined };
      if (isErased(tracesOfChange(lead, fields))) found.add(leadId);
    }
  }
  for (let afterId = firstId; ; ) {
    const leads = await select<Record<string, unknown>>(Prisma.sql`
      SELECT id, workspace_id AS "workspaceId", created_at AS "createdAt", phone, phone_e164 AS "phoneE164",
        CASE WHEN concat_ws(' ', ${textColumns}) LIKE '%@%' THEN jsonb_build_array(${textColumns}) END AS texts
      FROM lead WHERE id > ${afterId}::uuid ORDER BY id LIMIT ${pageSize}`);
    const rows = leads.map((row) => withoutNulls(row) as unknown as StoredLead);
    for (const lead of rows) if (isErased(tracesOf(lead))) found.add(lead.id);
    const last = rows.at(-1);
    if (last === undefined) return found;
    afterId = last.id;
  }
}

/** Finds the saved views whose name, search text or phone filter contains data of erased leads. */
export async function findViews(
  { select }: Database,
  isErased: IsErased,
  leadIds: readonly string[],
): Promise<string[]> {
  const views = await select<{
    id: string;
    workspaceId: string;
    createdAt: Date;
    texts: string[];
  }>(Prisma.sql`
    SELECT id, workspace_id AS "workspaceId", created_at AS "createdAt",
      array_remove(ARRAY[name, filters->>'q', filters->>'phone'], NULL) AS texts
    FROM saved_view ORDER BY id`);
  const found = new Set(views.filter((view) => isErased(tracesOfTexts(view))).map(({ id }) => id));
  for (let at = 0; views.length > 0 && at < leadIds.length; at += leadsPerTransaction) {
    const rows = await select<object>(Prisma.sql`
      SELECT workspace_id AS "workspaceId", name, phone, phone_e164 AS "phoneE164" FROM lead
      WHERE id = ANY(${leadIds.slice(at, at + leadsPerTransaction)}::uuid[])`);
    for (const row of rows) {
      const lead = withoutNulls(row) as Pick<StoredLead, 'workspaceId' | 'name' | 'phone' | 'phoneE164'>;
      for (const { id, workspaceId, texts } of views) {
        if (workspaceId === lead.workspaceId && texts.some((text) => isAbout(text, lead))) found.add(id);
      }
    }
  }
  return [...found];
}

/** Replaces the text of a note about an erased person. The note stays, because other users may have replied to it. */
const erasedText = '[erased]';

/** The texts of users that can contain data of a person: the statement of a page, and the one that erases some of them. */
export const writtenTexts = {
  notes: [
    {
      page: (afterId: string) => Prisma.sql`
        SELECT id, lead_id AS "leadId", workspace_id AS "workspaceId", created_at AS "createdAt", text FROM lead_note
        WHERE id > ${afterId}::uuid ORDER BY id LIMIT ${pageSize}`,
      erase: (ids: readonly string[]) => Prisma.sql`
        UPDATE lead_note SET text = ${erasedText} WHERE id = ANY(${ids}::uuid[]) RETURNING id`,
    },
  ],
  payments: [
    {
      page: (afterId: string) => Prisma.sql`
        SELECT id, workspace_id AS "workspaceId", created_at AS "createdAt", note AS text FROM payment
        WHERE id > ${afterId}::uuid AND note IS NOT NULL ORDER BY id LIMIT ${pageSize}`,
      erase: (ids: readonly string[]) => Prisma.sql`
        UPDATE payment SET note = ${erasedText} WHERE id = ANY(${ids}::uuid[]) RETURNING id`,
    },
    {
      page: (afterId: string) => Prisma.sql`
        SELECT id, workspace_id AS "workspaceId", cancelled_at AS "createdAt", cancel_reason AS text FROM payment
        WHERE id > ${afterId}::uuid AND cancel_reason IS NOT NULL ORDER BY id LIMIT ${pageSize}`,
      erase: (ids: readonly string[]) => Prisma.sql`
        UPDATE payment SET cancel_reason = ${erasedText} WHERE id = ANY(${ids}::uuid[]) RETURNING id`,
    },
  ],
};

/** Finds the texts of leads that are kept, and of payments, which contain a phone number or an email address of the person. */
export async function findTexts(
  { select }: Database,
  page: (afterId: string) => Prisma.Sql,
  isErased: IsErased,
  leadIds: readonly string[],
): Promise<string[]> {
  const contacts = await contactsOf({ select }, leadIds);
  const gone = new Set(leadIds);
  const found: string[] = [];
  for (let afterId = firstId; ; ) {
    const texts = await select<TextRow>(page(afterId));
    for (const text of texts) {
      if (text.leadId !== undefined && gone.has(text.leadId)) continue;
      const traces = tracesOfNote(text);
      const known = contacts.get(text.workspaceId);
      if (isErased(traces) || (known !== undefined && sharesContact(traces, known))) found.push(text.id);
    }
    const last = texts.at(-1);
    if (last === undefined) return found;
    afterId = last.id;
  }
}

/** Returns the complete phone numbers and the email addresses of leads, by workspace. */
async function contactsOf({ select }: Pick<Database, 'select'>, leadIds: readonly string[]) {
  const contacts = new Map<string, Set<string>>();
  for (let at = 0; at < leadIds.length; at += leadsPerTransaction) {
    const rows = await select<{ workspaceId: string; contacts: string[] }>(Prisma.sql`
      SELECT workspace_id AS "workspaceId", array_remove(ARRAY[phone_e164, lower(email)], NULL) AS contacts FROM lead
      WHERE id = ANY(${leadIds.slice(at, at + leadsPerTransaction)}::uuid[])`);
    for (const row of rows) {
      const known = contacts.get(row.workspaceId) ?? new Set();
      contacts.set(row.workspaceId, known);
      for (const contact of row.contacts) known.add(contact);
    }
  }
  return contacts;
}

function sharesContact({ phones, emails }: LeadTraces, known: ReadonlySet<string>): boolean {
  return (
    phones.some(({ e164 }) => e164 !== undefined && known.has(e164)) ||
    emails.some((email) => known.has(email.toLowerCase()))
  );
}

interface TextRow extends Record<string, unknown> {
  readonly id: string;
  /** The lead of a note. */
  readonly leadId?: string;
  readonly workspaceId: string;
  readonly createdAt: Date;
  readonly text: string;
}

interface ChangeRow {
  readonly leadId: string;
  readonly version: number;
  readonly workspaceId: string;
  readonly createdAt: Date;
  readonly country: string | null;
  readonly fields: Parameters<typeof tracesOfChange>[1] | null;
}
