export { getFirstSteps } from './first-steps.ts';
export { openWorkspace } from './open-workspace.ts';
export { slugMaxLength, slugOf } from './slug.ts';
export { FirstSteps, MemberView, WorkspaceAnswer, WorkspaceName } from './workspace.schema.ts';
export type { Membership, User, Workspace, WorkspaceStore } from './workspace-store.ts';
