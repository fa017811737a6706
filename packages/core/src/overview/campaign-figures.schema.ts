import { type Static, Type } from 'typebox';
import { CampaignView } from '../campaign/campaign.schema.ts';
import { dateTime, id } from '../fields.ts';
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

/** How many users created leads of each campaign that has any. */
export const PublishersByCampaign = Type.Array(
  Type.Object(
    {
      campaignId: id('The campaign.'),
      publishers: Type.Integer({
        description: 'The number of users who created leads in the last 30 days (UTC), with today.',
      }),
      only: Type.Optional(
        Type.Object(
          { userId: id('The user.'), name: Type.String({ description: 'Name of the user.' }) },
          { description: 'The user, if there is only one.' },
        ),
      ),
    },
    { additionalProperties: false },
  ),
);
export type PublishersByCampaign = Static<typeof PublishersByCampaign>;

/** The users who created leads of a campaign. */
export const CampaignPublishers = Type.Object({
  from: dateTime('The start of the counted time: the last 30 days (UTC), with today.'),
  publishers: Type.Array(record('Identifier of the user.', 'Name of the user.')),
});
export type CampaignPublishers = Static<typeof CampaignPublishers>;
