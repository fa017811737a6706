export { getOverview } from './get-overview.ts';
export { Overview, OverviewQuery } from './overview.schema.ts';
export type { OverviewStore } from './overview-store.ts';
export { TallyKeeper } from './tally-keeper.ts';
