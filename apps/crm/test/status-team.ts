import type { LeadStatus } from '@leads/core/lead';
import type { Fixture, TestMember } from '@leads/test-kit/fixture';

/** The answer to a change of a status that needs a reason and has none. */
export const reasonRequired = { success: false, error: 'validation', message: 'This change needs a reason' };

/**
 * Creates a workspace with a manager and a publisher, and another workspace.
 *
 * @returns them, and functions that insert leads of the workspace and read their statuses.
 */
export async function createStatusTeam(fixture: Fixture) {
  const workspace = await fixture.createWorkspace();
  const { owner } = workspace;

  /** Inserts leads of a status without a history, and returns their ids. */
  async function leadsOf(status: LeadStatus, count = 1, member: TestMember = owner): Promise<string[]> {
    const leads = Array.from({ length: count }, () => workspace.lead(member, { status }));
    await fixture.leads.insert(leads);
    return leads.map(({ id }) => id);
  }

  /** Returns the status, the version and the number of changes of each lead by its id. */
  async function stored(ids: readonly string[]) {
    const rows = await fixture.sql<{ id: string; status: LeadStatus; version: number; changes: number }>(
      `SELECT id, status, version, (SELECT count(*)::int FROM lead_change WHERE lead_id = lead.id) AS changes
       FROM lead WHERE id = ANY($1)`,
      [ids],
    );
    return new Map(rows.map(({ id, ...row }) => [id, row]));
  }

  return {
    workspace,
    owner,
    manager: await workspace.addMember('manager'),
    publisher: await workspace.addMember('publisher'),
    other: await fixture.createWorkspace(),
    leadsOf,
    leadOf: async (status: LeadStatus) => (await leadsOf(status))[0] ?? '',
    stored,
  };
}
