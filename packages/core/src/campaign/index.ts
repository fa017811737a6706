export { broadcastRouteChanges } from './broadcast-route-changes.ts';
export {
  CampaignAnswer,
  CampaignChanges,
  CampaignQuery,
  CampaignView,
  campaignStatuses,
  IntegrationLink,
  IntegrationPageView,
  LandingPageAnswer,
  LandingPageDismissal,
  LandingPageMapping,
  LandingPageQuery,
  LandingPageView,
  NewCampaign,
  NewLandingPage,
} from './campaign.schema.ts';
export { CampaignCodes } from './campaign-codes.ts';
export { CampaignRouter } from './campaign-router.ts';
export type {
  Campaign,
  CampaignStatus,
  CampaignStore,
  CampaignUpdate,
} from './campaign-store.ts';
export { createCampaign } from './create-campaign.ts';
export { createLandingPage } from './create-landing-page.ts';
export { dismissLandingPage } from './dismiss-landing-page.ts';
export type { IntakeRoute, IntakeRouting } from './intake-routing.ts';
export {
  getIntegrationPage,
  getIntegrationToken,
  removeIntegrationToken,
  renewIntegrationToken,
} from './integration-page.ts';
export type { IntegrationPageStore } from './integration-page-store.ts';
export { findCampaignToMap } from './landing-page.ts';
export type { LandingPage, LandingPageState, LandingPageStore } from './landing-page-store.ts';
export { LandingPageRegistrar } from './landing-page-registrar.ts';
export { listCampaigns } from './list-campaigns.ts';
export { listLandingPages } from './list-landing-pages.ts';
export { mapLandingPage } from './map-landing-page.ts';
export { updateCampaign } from './update-campaign.ts';
