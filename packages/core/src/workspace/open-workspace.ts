import { randomBytes } from 'node:crypto';
import { slugOf } from './slug.ts';
import type { Membership, User, WorkspaceStore } from './workspace-store.ts';

/** Makes a workspace of which a user is the owner, with its default campaign. */
export function openWorkspace(
  workspaces: WorkspaceStore,
  user: User,
  name = `${user.name}'s workspace`.slice(-255),
): Promise<Membership> {
  return workspaces.addMember({
    email: user.email,
    name: user.name,
    role: 'owner',
    // Readable, and unlike any other.
    workspace: {
      slug: `${slugOf(name.slice(0, 40)) ?? 'workspace'}-${randomBytes(4).toString('hex')}`,
      name,
    },
  });
}
