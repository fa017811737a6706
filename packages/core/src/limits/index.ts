export { FairQueue } from './fair-queue.ts';
export { fairLeadReads, fairOverview } from './fair-reads.ts';
export { createRateLimit, type RateLimit, windowMs } from './rate-limit.ts';
