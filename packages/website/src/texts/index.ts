import { account } from './account.ts';
import { campaigns } from './campaigns.ts';
import { common } from './common.ts';
import { integration } from './integration.ts';
import { leads } from './leads.ts';
import { members } from './members.ts';
import { overview } from './overview.ts';
import { profile } from './profile.ts';

/** The texts of the website. Pages load their own texts if only they use them, such as the audit log. */
export const texts = {
  account,
  campaigns,
  common,
  integration,
  leads,
  members,
  overview,
  profile,
} as const;
