export type { SnapshotSource, SnapshotStore } from './intake-snapshot.ts';
export { SnapshotCache } from './snapshot-cache.ts';
export { SnapshotRefresher } from './snapshot-refresher.ts';
