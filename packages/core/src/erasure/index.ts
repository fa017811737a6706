export {
  erase,
  eraseAgain,
  type ErasureLog,
  type ErasurePlace,
  type ErasurePlan,
  type ErasureReport,
  type ErasureTable,
  type ErasureTargets,
  type FoundCounts,
  foundKinds,
  planErasure,
} from './erase.ts';
export { type Erasure, ErasureKeys, formatErasure, parseErasure, type Whom } from './erasure.ts';
export { createBufferPlace, createEventsPlace, ErasureStream } from './streams.ts';
