export { createAccountStore } from './account-store.prisma.ts';
export { createCampaignStore } from './campaign-store.prisma.ts';
export { type Database, type DatabaseOptions, openDatabase, type PoolUse } from './client.ts';
export { createCredentialStore } from './credential-store.prisma.ts';
export { DatabaseError } from './database-error.ts';
export { createEventOutbox } from './event-outbox.prisma.ts';
export { createLeadStore } from './lead-store.prisma.ts';
export { createOverviewStore } from './overview-store.prisma.ts';
export { createWorkspaceStore } from './workspace-store.prisma.ts';
