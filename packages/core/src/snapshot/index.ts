export { IntakeMemory } from './intake-memory.ts';
export type { SnapshotShelf, SnapshotSource } from './intake-snapshot.ts';
export { SnapshotKeeper } from './snapshot-keeper.ts';
