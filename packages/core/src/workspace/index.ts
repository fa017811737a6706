export type { Membership, User, Workspace, WorkspaceStore } from './workspace-store.ts';
