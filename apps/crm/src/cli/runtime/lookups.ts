import type { Campaign, CampaignStore } from '@leads/core/campaign';
import type { Membership, Workspace, WorkspaceStore } from '@leads/core/workspace';
import { CliError } from './cli-error.ts';

/*
 * Lookups for command options: a workspace by its slug, a member by an email address, a campaign by its code.
 */

/** The maximum number of workspaces that an error lists. */
const maxChoices = 20;

/**
 * Returns the workspace of `--workspace`. Without `--workspace`, returns the only workspace.
 *
 * @throws CliError if there is no such workspace, or if `slug` is missing and there are several.
 */
export async function findWorkspace(
  workspaces: WorkspaceStore,
  slug: string | undefined,
): Promise<Workspace> {
  if (slug !== undefined) {
    const named = await workspaces.findWorkspace(slug);
    if (named === undefined) throw new CliError(`Workspace ${slug} does not exist`);
    return named;
  }
  const all = await workspaces.listWorkspaces(maxChoices + 1);
  const [only] = all;
  if (only === undefined)
    throw new CliError('There is no workspace yet: create one with `leads user create`');
  if (all.length > 1)
    throw new CliError(`There are several workspaces; choose one with --workspace: ${listChoices(all)}`);
  return only;
}

/**
 * Returns the membership of `--user` in `--workspace`. Without `--workspace`, returns the only membership of the user.
 *
 * @throws CliError if there is no such workspace, or if `slug` is missing and there are several.
 */
export async function findMembership(
  workspaces: WorkspaceStore,
  email: string,
  slug: string | undefined,
): Promise<Membership> {
  const user = await workspaces.findUser(email);
  if (user === undefined) throw new CliError(`User ${email} does not exist`);
  const memberships = await workspaces.listMemberships(user.id);
  const all = memberships.map(({ workspace }) => workspace);
  if (slug !== undefined) {
    const named = memberships.find(({ workspace }) => workspace.slug === slug);
    if (named !== undefined) return named;
    throw new CliError(
      `${user.email} is not a member of ${slug}${all.length === 0 ? '' : `, only of ${listChoices(all)}`}`,
    );
  }
  const [only] = memberships;
  if (only === undefined) throw new CliError(`${user.email} is not a member of any workspace`);
  if (all.length > 1) {
    throw new CliError(
      `${user.email} is a member of several workspaces; choose one with --workspace: ${listChoices(all)}`,
    );
  }
  return only;
}

/**
 * Returns the campaign with a code.
 *
 * @throws CliError if the workspace has no such campaign.
 */
export async function findCampaign(
  campaigns: Pick<CampaignStore, 'findByCode'>,
  workspace: Workspace,
  code: string,
): Promise<Campaign> {
  const campaign = await campaigns.findByCode(workspace.id, code);
  if (campaign === undefined) throw new CliError(`Workspace ${workspace.slug} has no campaign ${code}`);
  return campaign;
}

function listChoices(workspaces: readonly Workspace[]): string {
  const slugs = workspaces.slice(0, maxChoices).map(({ slug }) => slug);
  return slugs.join(', ') + (workspaces.length > maxChoices ? ', ...' : '');
}
