export type { Campaign, CampaignStatus, CampaignStore, IntakeRoute } from './campaign-store.ts';
export { LandingPageRegistrar } from './landing-page-registrar.ts';
