export { Broker, type BrokerOptions } from './broker.ts';
export { Invalidations } from './invalidations.ts';
export type { Announce, Invalidation } from '../invalidation.ts';
export { NatsSnapshotShelf } from './snapshot-shelf.ts';
export { type BrokerDurability, lossByPowerCut } from './durability.ts';
