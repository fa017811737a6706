import type { MemberRole } from '../credential/principal.ts';

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

/** A user's place in a workspace. */
export interface Membership {
  readonly id: string;
  readonly user: User;
  readonly workspace: Workspace;
  readonly role: MemberRole;
  readonly createdAt: Date;
}

/** Users, workspaces, and who is a member of what. */
export interface WorkspaceStore {
  findWorkspace(slug: string): Promise<Workspace | undefined>;
  /** Workspaces by slug, `limit` of them at most. */
  listWorkspaces(limit: number): Promise<Workspace[]>;
  findUser(email: string): Promise<User | undefined>;
  getUser(id: string): Promise<User | undefined>;
  renameWorkspace(id: string, name: string): Promise<void>;
  /** The memberships of a user, oldest first. */
  listMemberships(userId: string): Promise<Membership[]>;
  /** The members of a workspace, oldest first. */
  listMembers(workspaceId: string): Promise<Membership[]>;

  /**
   * Adds a user to a workspace. The user, and the workspace with its default campaign, are made in the same
   * transaction where they do not exist.
   *
   * @throws LeadsError `conflict` when the user is a member already.
   */
  addMember(member: {
    email: string;
    name: string;
    role: MemberRole;
    workspace: { slug: string; name: string };
  }): Promise<Membership & { workspaceCreated: boolean }>;
}
