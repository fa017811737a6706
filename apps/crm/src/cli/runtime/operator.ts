import type { AccountOptions } from '@leads/core/account';
import { announceRoutes, type CampaignStore } from '@leads/core/campaign';
import { announceRevocations, type CredentialStore } from '@leads/core/credential';
import {
  type Archiving,
  checkArchiving,
  createAccountStore,
  createCampaignStore,
  createCredentialStore,
  createErasureTable,
  createLeadQuarantine,
  createLeadStore,
  createLeadsPlace,
  createQuarantinePlace,
  createRetentionStore,
  createWorkspaceStore,
  openDatabase,
} from '@leads/core/db';
import type { ErasurePlace, ErasureTable } from '@leads/core/erasure';
import type { Announce } from '@leads/core/invalidation';
import type { LeadQuarantine, LeadStore } from '@leads/core/lead';
import type { RetentionStore } from '@leads/core/retention';
import type { Membership, Workspace, WorkspaceStore } from '@leads/core/workspace';
import { CliError } from './cli-error.ts';
import { readSettings, StoreSettings } from './settings.ts';

/** The stores that commands work on. */
export interface Operator extends AsyncDisposable {
  readonly campaigns: CampaignStore;
  readonly credentials: CredentialStore;
  readonly leads: LeadStore;
  readonly quarantine: LeadQuarantine;
  readonly workspaces: WorkspaceStore;
  readonly retention: RetentionStore;
  readonly archiving: () => Promise<Archiving>;
  /** What holds leads, in the order in which they are erased, and where erasures are noted. */
  readonly erasable: readonly ErasurePlace[];
  readonly erasures: ErasureTable;
  /** What accounts are kept in. */
  readonly accounts: Pick<AccountOptions, 'openAdapter' | 'ping' | 'store'>;
}

const statementTimeoutMs = 10_000;
const brokerTimeoutMs = 2_000;
/** How many names an error offers to choose from. */
const choicesShown = 20;

/**
 * Opens the stores. Nothing is asked of the database yet.
 *
 * @throws ConfigError
 */
export function openOperator(): Operator {
  const settings = readSettings(StoreSettings);
  const database = openDatabase({
    url: settings.DATABASE_URL,
    poolSize: 1,
    connectTimeoutMs: settings.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs,
    applicationName: 'leads-cli',
  });
  const announce = announceBy(settings.NATS_URL);
  const quarantine = createLeadQuarantine(database);
  return {
    campaigns: announceRoutes(createCampaignStore(database), announce),
    credentials: announceRevocations(createCredentialStore(database), announce),
    leads: createLeadStore(database),
    quarantine,
    workspaces: createWorkspaceStore(database),
    retention: createRetentionStore(database),
    archiving: () => checkArchiving(database),
    erasable: [createQuarantinePlace(quarantine), createLeadsPlace(database)],
    erasures: createErasureTable(database),
    accounts: {
      openAdapter: async () =>
        (await import('@leads/core/db/account-adapter')).createAccountAdapter(database),
      ping: () => database.ping(),
      store: createAccountStore(database),
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

/** Connects to the broker for each change: few commands make one. Without it services find out by themselves. */
function announceBy(url: string | undefined): Announce {
  return async (change) => {
    if (url === undefined) return;
    // Most commands have no use for it.
    const { Broker, Invalidations } = await import('@leads/core/nats');
    await using broker = new Broker({ url, name: 'leads-cli' });
    if (!(await broker.connected(brokerTimeoutMs))) return;
    await new Invalidations(broker, () => undefined).announce(change);
  };
}

/**
 * The workspace of `--workspace` or, without it, the only one there is.
 *
 * @throws CliError that lists what there is to choose from.
 */
export async function findWorkspace(
  workspaces: WorkspaceStore,
  slug: string | undefined,
): Promise<Workspace> {
  if (slug !== undefined) {
    const named = await workspaces.findWorkspace(slug);
    if (named === undefined) throw new CliError(`There is no workspace ${slug}`);
    return named;
  }
  const all = await workspaces.listWorkspaces(choicesShown + 1);
  const [only] = all;
  if (only === undefined) throw new CliError('There is no workspace yet: `leads user create` makes one');
  if (all.length > 1) throw new CliError(`Say which with --workspace: ${choices(all)}`);
  return only;
}

/**
 * The membership of `--user` in `--workspace` or, without it, the only one the user has.
 *
 * @throws CliError that lists what there is to choose from.
 */
export async function findMembership(
  workspaces: WorkspaceStore,
  email: string,
  slug: string | undefined,
): Promise<Membership> {
  const user = await workspaces.findUser(email);
  if (user === undefined) throw new CliError(`There is no user ${email}`);
  const memberships = await workspaces.listMemberships(user.id);
  const all = memberships.map(({ workspace }) => workspace);
  if (slug !== undefined) {
    const named = memberships.find(({ workspace }) => workspace.slug === slug);
    if (named !== undefined) return named;
    throw new CliError(
      `${user.email} is not a member of ${slug}${all.length === 0 ? '' : `, but of: ${choices(all)}`}`,
    );
  }
  const [only] = memberships;
  if (only === undefined) throw new CliError(`${user.email} is not a member of any workspace`);
  if (all.length > 1) {
    throw new CliError(`${user.email} is in several workspaces; say which with --workspace: ${choices(all)}`);
  }
  return only;
}

/**
 * Whose credentials a list is about: a member's with `--user`, else those of the whole workspace.
 *
 * @throws CliError as {@link findMembership} and {@link findWorkspace} do.
 */
export async function findOwners(
  workspaces: WorkspaceStore,
  options: { user?: string; workspace?: string },
): Promise<{ workspaceId: string; userId?: string; emailOf: (userId: string) => string }> {
  if (options.user !== undefined) {
    const { user, workspace } = await findMembership(workspaces, options.user, options.workspace);
    return { workspaceId: workspace.id, userId: user.id, emailOf: () => user.email };
  }
  const workspace = await findWorkspace(workspaces, options.workspace);
  const members = await workspaces.listMembers(workspace.id);
  const emails = new Map(members.map(({ user }) => [user.id, user.email]));
  return { workspaceId: workspace.id, emailOf: (userId) => emails.get(userId) ?? userId };
}

function choices(workspaces: readonly Workspace[]): string {
  const slugs = workspaces.slice(0, choicesShown).map(({ slug }) => slug);
  return slugs.join(', ') + (workspaces.length > choicesShown ? ', ...' : '');
}
