import { account } from './account.ts';
import { audit } from './audit.ts';
import { campaigns } from './campaigns.ts';
import { common } from './common.ts';
import { integration } from './integration.ts';
import { leads } from './leads.ts';
import { members } from './members.ts';
import { overview } from './overview.ts';
import { profile } from './profile.ts';

/** All texts of the website. */
export const texts = {
  account,
  audit,
  campaigns,
  common,
  integration,
  leads,
  members,
  overview,
  profile,
} as const;
