export {
  type ErasableStore,
  type ErasureLog,
  type ErasurePlan,
  type ErasureReport,
  type ErasureTable,
  type ErasureTargets,
  erase,
  type FoundCounts,
  foundKinds,
  planErasure,
  repeatErasures,
} from './erase.ts';
export { type DataSubject, type Erasure, ErasureKeys, formatErasure, parseErasure } from './erasure.ts';
