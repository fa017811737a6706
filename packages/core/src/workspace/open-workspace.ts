import { randomBytes } from 'node:crypto';
import { slugOf } from './slug.ts';
import type { Membership, User, WorkspaceStore } from './workspace-store.ts';

/** Creates a workspace with a default campaign. The user becomes its owner. */
export function openWorkspace(
  workspaces: WorkspaceStore,
  user: User,
  name = `${user.name}'s workspace`.slice(-255),
): Promise<Membership> {
  return workspaces.addMember({
    email: user.email,
    name: user.name,
    role: 'owner',
    // The random suffix makes the slug unique.
    workspace: {
      slug: `${slugOf(name.slice(0, 40)) ?? 'workspace'}-${randomBytes(4).toString('hex')}`,
      name,
    },
  });
}
