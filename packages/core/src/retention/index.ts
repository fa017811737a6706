export type { RetentionStore } from './retention-store.ts';
export { type RetentionReport, runRetention } from './run-retention.ts';
