export {
  type ErasureLog,
  type ErasurePlace,
  type ErasurePlan,
  type ErasureReport,
  type ErasureTable,
  type ErasureTargets,
  erase,
  eraseAgain,
  type FoundCounts,
  foundKinds,
  planErasure,
} from './erase.ts';
export { type Erasure, ErasureKeys, formatErasure, parseErasure, type Whom } from './erasure.ts';
