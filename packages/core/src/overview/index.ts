export { Attention, type AttentionStore, getAttention } from './attention.ts';
export {
  countPublishersByCampaign,
  listCampaignFigures,
  listCampaignPublishers,
} from './campaign-figures.ts';
export { CampaignFigures, CampaignPublishers, PublishersByCampaign } from './campaign-figures.schema.ts';
export {
  getCountries,
  getOverview,
  getOverviewPayouts,
  getPublisherPayouts,
  getSubIdPayouts,
} from './get-overview.ts';
export { LeadCountAggregator } from './lead-count-aggregator.ts';
export {
  Countries,
  CountryQuery,
  Overview,
  OverviewPayouts,
  OverviewQuery,
  PayoutsByValue,
  type PayoutSum,
  PublisherPayoutsQuery,
} from './overview.schema.ts';
export type { OverviewStore } from './overview-store.ts';
