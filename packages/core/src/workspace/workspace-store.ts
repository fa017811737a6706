import type { MemberRole } from '../credential/roles.ts';

export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

export interface Workspace {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
}

/** The membership of a user in a workspace. */
export interface Membership {
  readonly id: string;
  readonly user: User;
  readonly workspace: Workspace;
  readonly role: MemberRole;
  readonly createdAt: Date;
}

/** The first steps that a member of a workspace has done, derived from the stored data. */
export interface StepsDone {
  /** Whether the member has created an API key. */
  readonly apiKey: boolean;
  /** The number of leads that the member sees, up to {@link maxCountedLeads}. */
  readonly leads: number;
  /** Whether a landing page has a campaign. */
  readonly landingPage: boolean;
  /** Whether the workspace has another member or a pending invitation. */
  readonly invitation: boolean;
}

/** Counting more leads would take longer, and a workspace with so many is not new. */
export const maxCountedLeads = 100;

/** The store of users, workspaces and memberships. */
export interface WorkspaceStore {
  findWorkspace(slug: string): Promise<Workspace | undefined>;
  /** Lists at most `limit` workspaces, sorted by slug. */
  listWorkspaces(limit: number): Promise<Workspace[]>;
  findUser(email: string): Promise<User | undefined>;
  getUser(id: string): Promise<User | undefined>;
  /** Renames a workspace. Its slug stays, so that links survive. */
  renameWorkspace(id: string, name: string): Promise<Workspace>;
  /** Lists the memberships of a user, oldest first. */
  listMemberships(userId: string): Promise<Membership[]>;
  /** Lists the members of a workspace, oldest first. */
  listMembers(workspaceId: string): Promise<Membership[]>;
  /** Whether a user is an owner or manager of a workspace. */
  hasManager(workspaceId: string, userId: string): Promise<boolean>;
  /** Returns the first steps that a member has done. @param leadsOf the user whose leads count; all users if absent. */
  stepsDone(workspaceId: string, userId: string, leadsOf: string | undefined): Promise<StepsDone>;

  /**
   * Adds a user to a workspace. In the same transaction, it creates the user, and the workspace with its default campaign,
   * if they do not exist.
   *
   * @throws LeadsError `conflict` if the user is already a member.
   */
  addMember(member: {
    email: string;
    name: string;
    role: MemberRole;
    workspace: { slug: string; name: string };
  }): Promise<Membership & { workspaceCreated: boolean }>;
}
