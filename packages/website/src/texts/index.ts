/** The texts of the website. Each page loads only the texts that it uses. */
export { account } from './account.ts';
export { campaigns } from './campaigns.ts';
export { common } from './common.ts';
export { integration } from './integration.ts';
export { leads } from './leads.ts';
export { members } from './members.ts';
export { overview } from './overview.ts';
export { payouts } from './payouts.ts';
export { profile } from './profile.ts';
