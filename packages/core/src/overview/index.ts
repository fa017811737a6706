export { getOverview } from './get-overview.ts';
export { LeadCountAggregator } from './lead-count-aggregator.ts';
export { Overview, OverviewQuery } from './overview.schema.ts';
export type { OverviewStore } from './overview-store.ts';
