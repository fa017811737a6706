import { type Static, Type } from 'typebox';
import { ApiAddresses } from '../account/account.schema.ts';
import { dateTime, id, label } from '../fields.ts';
import { pageParameters } from '../paging.ts';

/** The longest window within which a second lead of a phone number is a duplicate: ten years. */
const longestWindowSeconds = 315_360_000;

const flag = (description: string, example: boolean) => Type.Boolean({ description, examples: [example] });

/** Where a campaign may stand. */
export const campaignStatuses = ['active', 'paused', 'archived'] as const;

/** Where a campaign stands. Only an active one takes leads. */
export const CampaignStatus = Type.Enum([...campaignStatuses], {
  description: 'Where the campaign stands. Only an active one takes leads.',
  examples: ['active'],
});
export type CampaignStatus = Static<typeof CampaignStatus>;

const meanings = {
  code: 'What integrators name the campaign by; unique in the workspace.',
  name: 'What people call it.',
  landingPage: 'What the landing page sends as `lp_name`; unique in the workspace.',
} as const;

const campaignName = label(meanings.name, 'Spring offer');

const sentWindow = Type.Integer({
  minimum: 0,
  maximum: longestWindowSeconds,
  description:
    'For how many seconds after a lead another one of the same phone number is a duplicate; 0 for no duplicates.',
  examples: [2_592_000],
});

/** The body that makes a campaign. */
export const NewCampaign = Type.Object(
  {
    code: label(meanings.code, 'SPRING'),
    name: campaignName,
    duplicateWindowSeconds: Type.Optional(sentWindow),
    isDefault: Type.Optional(
      flag("Whether it takes the place of the workspace's default campaign; if absent, not.", false),
    ),
  },
  { additionalProperties: false, description: 'A new campaign, which is active at once.' },
);
export type NewCampaign = Static<typeof NewCampaign>;

/** The body that changes a campaign: at least one of its fields. */
export const CampaignChanges = Type.Object(
  {
    name: Type.Optional(campaignName),
    status: Type.Optional(CampaignStatus),
    duplicateWindowSeconds: Type.Optional(sentWindow),
    isDefault: Type.Optional(
      Type.Literal(true, {
        description: "Makes it the workspace's default, in place of the present one. There always is one.",
        examples: [true],
      }),
    ),
  },
  { additionalProperties: false, minProperties: 1, description: 'What is to change; the rest stays.' },
);
export type CampaignChanges = Static<typeof CampaignChanges>;

/** The query of the list of campaigns. */
export const CampaignQuery = Type.Object(
  {
    status: Type.Optional(
      Type.Enum([...campaignStatuses], { description: 'Only campaigns of this status.' }),
    ),
  },
  { additionalProperties: false },
);
export type CampaignQuery = Static<typeof CampaignQuery>;

/** The representation of a campaign. */
export const CampaignView = Type.Object(
  {
    id: id('Unique identifier of the campaign (UUID).'),
    code: Type.String({ description: meanings.code, examples: ['SPRING'] }),
    name: Type.String({ description: meanings.name, examples: ['Spring offer'] }),
    status: CampaignStatus,
    isDefault: flag('Whether leads of the intake go here when nothing else says where.', false),
    duplicateWindowSeconds: Type.Optional(
      Type.Integer({
        description:
          'For how many seconds after a lead another one of the same phone number is a duplicate; absent where none is.',
        examples: [2_592_000],
      }),
    ),
    createdAt: dateTime('Creation time.'),
    updatedAt: dateTime('Last update time.'),
  },
  { additionalProperties: false, description: 'A campaign.' },
);
export type CampaignView = Static<typeof CampaignView>;

/** The answer to a change of a campaign. */
export const CampaignAnswer = Type.Object(
  { success: Type.Literal(true), campaign: CampaignView },
  { additionalProperties: false, description: 'The campaign as it is now.' },
);

/** The body that registers a landing page before its first lead does. */
export const NewLandingPage = Type.Object(
  {
    name: label(meanings.landingPage, 'spring-offer'),
    campaignCode: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Code of the campaign that its leads go to; if absent, it is unmapped.',
        examples: ['DEMO'],
      }),
    ),
  },
  { additionalProperties: false, description: 'A new landing page.' },
);
export type NewLandingPage = Static<typeof NewLandingPage>;

/** The body that maps a landing page to a campaign, or to none. */
export const LandingPageMapping = Type.Object(
  {
    campaignCode: Type.String({
      maxLength: 255,
      description: 'Code of the campaign that its leads go to from now on; empty for none.',
      examples: ['DEMO'],
    }),
  },
  { additionalProperties: false, description: 'Where the leads of a landing page go.' },
);
export type LandingPageMapping = Static<typeof LandingPageMapping>;

/** The query of the list of landing pages. Values arrive as text. */
export const LandingPageQuery = Type.Object(
  {
    mapped: Type.Optional(
      Type.Enum(['true', 'false'], {
        description: 'Only landing pages that have a campaign, or only those that have none.',
        examples: ['false'],
      }),
    ),
    ...pageParameters('Landing pages'),
  },
  { additionalProperties: false },
);
export type LandingPageQuery = Static<typeof LandingPageQuery>;

/** The representation of a landing page. */
export const LandingPageView = Type.Object(
  {
    id: id('Unique identifier of the landing page (UUID).'),
    name: Type.String({ description: meanings.landingPage, examples: ['spring-offer'] }),
    campaignId: Type.Optional(id('Identifier of the campaign it is mapped to; absent where there is none.')),
    campaignCode: Type.Optional(
      Type.String({ description: 'Code of the campaign it is mapped to.', examples: ['DEMO'] }),
    ),
    leads: Type.Integer({
      description:
        "How many leads came by it; for a publisher, how many of these are its own. Only the landing page's newest 100,000 leads are looked at, fewer on a page of more than 10 landing pages: 1,000,000 for all of them together.",
      examples: [17],
    }),
    createdAt: dateTime('Registration time.'),
    updatedAt: dateTime('When it was mapped last.'),
  },
  { additionalProperties: false, description: 'A landing page.' },
);
export type LandingPageView = Static<typeof LandingPageView>;

/** The answer to a change of a landing page. */
export const LandingPageAnswer = Type.Object(
  { success: Type.Literal(true), landingPage: LandingPageView },
  { additionalProperties: false, description: 'The landing page as it is now.' },
);

/** The link of a campaign's integration page. */
export const IntegrationLink = Type.Object({
  link: Type.Optional(Type.String({ description: 'The address of the page; absent if there is none.' })),
});
export type IntegrationLink = Static<typeof IntegrationLink>;

/** What a publisher needs to send leads to a campaign. */
export const IntegrationPageView = Type.Object({
  workspace: Type.String(),
  campaignCode: Type.String(),
  campaign: Type.String(),
  status: CampaignStatus,
  landingPages: Type.Array(Type.String()),
  addresses: ApiAddresses,
});
export type IntegrationPageView = Static<typeof IntegrationPageView>;
