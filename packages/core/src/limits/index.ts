export { addressBlock } from '../address-block.ts';
export { caps } from './caps.ts';
export { FairBacklog } from './fair-backlog.ts';
export { FairQueue } from './fair-queue.ts';
export {
  type ExportReads,
  fairEventLog,
  fairExportReads,
  fairLeadReads,
  fairOverview,
  fairPayments,
  fairPayouts,
} from './fair-reads.ts';
export { FairShares, type UserOfWorkspace } from './fair-shares.ts';
export { RecentTenants } from './recent-tenants.ts';
export { createRateLimit, RateLimit, windowMs } from './rate-limit.ts';
