import { type Static, Type } from 'typebox';
import { CampaignView } from '../campaign/campaign.schema.ts';
import { dateTime } from '../fields.ts';
import { record, summary } from './overview.schema.ts';

/** A campaign with the counts of its leads that the caller may see. */
export const CampaignFigures = Type.Object(
  {
    ...CampaignView.properties,
    ...summary,
    days: Type.Array(Type.Integer(), {
      description: 'The leads of each of the last 14 days (UTC), oldest first. The last day is today.',
    }),
    lastLeadAt: Type.Optional(dateTime('When the newest lead was created. Absent without a lead.')),
    landingPages: Type.Optional(
      Type.Integer({ description: 'The number of approved landing pages. Absent for a publisher.' }),
    ),
  },
  { additionalProperties: false },
);
export type CampaignFigures = Static<typeof CampaignFigures>;

/** The users who created leads of a campaign. */
export const CampaignPublishers = Type.Object({
  from: dateTime('The start of the counted time: the last 30 days (UTC), with today.'),
  publishers: Type.Array(record('Identifier of the user.', 'Name of the user.')),
});
export type CampaignPublishers = Static<typeof CampaignPublishers>;
