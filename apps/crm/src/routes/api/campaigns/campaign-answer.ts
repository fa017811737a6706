import { CampaignView } from '@leads/core/campaign';
import { Type } from 'typebox';

/** The answer to a change of a campaign. */
export const CampaignAnswer = Type.Object(
  { success: Type.Literal(true), campaign: CampaignView },
  { additionalProperties: false, description: 'The campaign as it is now.' },
);
