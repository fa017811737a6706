export { openWorkspace } from './open-workspace.ts';
export { slugMaxLength, slugOf } from './slug.ts';
export { MemberView, WorkspaceAnswer, WorkspaceName } from './workspace.schema.ts';
export type { Membership, User, Workspace, WorkspaceStore } from './workspace-store.ts';
