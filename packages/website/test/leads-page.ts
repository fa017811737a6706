import { randomUUID } from 'node:crypto';
import type { LeadStatus } from '@leads/core/lead';
import type { TestMember, TestWorkspace } from '@leads/test-kit/fixture';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Website } from './website.ts';

/* The page of leads in tests: its leads, and its parts. */

const statusCycle = ['OnHold', 'Approved', 'Paid', 'Trashed'] as const;
/** Returns the status of the lead at a position of a list that has every status. */
export const statusOf = (i: number): LeadStatus => statusCycle[i % statusCycle.length] ?? 'OnHold';

type Changes = Parameters<TestWorkspace['lead']>[1];

/** Stores leads. Each lead is 1 s older than the previous one. */
export async function addLeads(
  website: Website,
  workspace: TestWorkspace,
  member: TestMember,
  count: number,
  changes: (i: number) => NonNullable<Changes> = () => ({}),
): Promise<string[]> {
  const newestMs = Date.now() - 60_000;
  const leads = Array.from({ length: count }, (_, i) =>
    workspace.lead(member, {
      id: randomUUID(),
      name: `Person ${String(i).padStart(4, '0')}`,
      phone: `+4420794${String(i).padStart(5, '0')}`,
      createdAt: new Date(newestMs - i * 1000),
      ...changes(i),
    }),
  );
  for (let at = 0; at < count; at += 500) await website.fixture.leads.insert(leads.slice(at, at + 500));
  return leads.map(({ id }) => id);
}

/** Opens the import of leads, and chooses a file. */
export async function chooseImport(page: Page, file: Parameters<Locator['setInputFiles']>[0]): Promise<void> {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Import a CSV file' }).click();
  await page.getByRole('button', { name: 'Choose a CSV file' }).waitFor();
  await page.locator('input[type="file"]').setInputFiles(file);
}

/** Returns a CSV file to choose. */
export const csvFile = (text: string) => ({
  name: 'leads.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(text),
});

export const grid = (page: Page): Locator => page.getByRole('grid', { name: 'Leads' });
export const rowOf = (page: Page, name: string): Locator =>
  grid(page).getByRole('row').filter({ hasText: name });
export const notice = (page: Page, text: string): Locator =>
  page.getByRole('alert').filter({ hasText: text });
/** Waits until the page has polled for changes twice. The first poll may have begun before the last change. */
export async function waitForPolls(page: Page): Promise<void> {
  for (let polls = 0; polls < 2; polls++) {
    await page.waitForResponse((answer) => answer.url().includes('updatedSince') && answer.ok());
  }
}
/** Returns the jobs of a list, without the reasons that are listed below a job. */
export const jobsOf = (list: Locator): Locator =>
  list.getByRole('list', { name: 'Changes in the background' }).locator('> li');
/** Shows the form of the panel, which has also the empty fields. */
export const openEdit = (panel: Locator): Promise<void> =>
  panel.getByRole('button', { name: 'Edit', exact: true }).click();

/** Returns the stored status of a lead and its previous status changes. */
export async function storedOf(
  website: Website,
  id: string,
): Promise<{ status: LeadStatus; changes: string[] }> {
  const [lead] = await website.fixture.sql<{ status: LeadStatus }>(
    'SELECT status::text FROM lead WHERE id = $1',
    [id],
  );
  const history = await website.fixture.sql<{ to: string; reason: string | null }>(
    'SELECT to_status::text AS to, reason FROM lead_change WHERE lead_id = $1 AND to_status IS NOT NULL ORDER BY version',
    [id],
  );
  if (lead === undefined) throw new Error(`No lead ${id}`);
  return {
    status: lead.status,
    changes: history.map(({ to, reason }) => (reason === null ? to : `${to} (${reason})`)),
  };
}

/** Changes a lead through the API, like another user. */
export async function changeAs(
  website: Website,
  member: TestMember,
  id: string,
  body: object,
): Promise<void> {
  const answer = await fetch(`${website.crm}/api/v1/order/leads/${id}`, {
    method: 'PATCH',
    headers: { ...member.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
}
