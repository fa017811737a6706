import { type Static, Type } from 'typebox';
import { ApiAddresses } from '../account/account.schema.ts';
import { dateTime, id, label, term } from '../fields.ts';
import { pageParameters } from '../paging.ts';
import { Payout } from '../payout/payout.schema.ts';

/** The maximum duplicate window: 10 years. */
const longestWindowSeconds = 315_360_000;

const flag = (description: string, example: boolean) => Type.Boolean({ description, examples: [example] });

/** The statuses of a campaign. */
export const campaignStatuses = ['active', 'paused', 'archived'] as const;

/** The status of a campaign. */
export const CampaignStatus = Type.Enum([...campaignStatuses], {
  description: 'The status of the campaign. Only an active campaign accepts leads.',
  examples: ['active'],
});
export type CampaignStatus = Static<typeof CampaignStatus>;

const meanings = {
  code: 'The code by which integrations refer to the campaign. It is unique in the workspace.',
  name: 'The display name.',
  landingPage: 'The name that the landing page sends as `lp_name`. It is unique in the workspace.',
} as const;

const campaignName = label(meanings.name, 'Spring offer');

const sentWindow = Type.Integer({
  minimum: 0,
  maximum: longestWindowSeconds,
  description:
    'The duplicate window in seconds. Within it, another lead of the same phone number is a duplicate. 0 disables duplicates.',
  examples: [2_592_000],
});

/** The bounds of a hold time: 1 minute and 365 days. */
const holdBounds = { minimum: 60, maximum: 31_536_000 } as const;

const holdTimes = [Type.Literal(0), Type.Integer(holdBounds)] as const;
const aboutHoldTime = (off: string) => ({
  'x-reason': `must be ${off} to turn the timer off, or a whole number of seconds from ${holdBounds.minimum} to ${holdBounds.maximum}`,
  description: `The hold time in seconds, ${holdBounds.minimum} to ${holdBounds.maximum}. A new lead becomes Approved after it, unless its status is changed or it is held before. ${off} turns the timer off, also for leads that wait. A longer time applies to leads that wait, and a shorter one to new leads only.`,
  examples: [1_209_600],
});

/** The maximum number of assignees of a campaign. */
const maxAssignees = 100;

const assigneeIds = (description: string) =>
  Type.Array(Type.String(), {
    maxItems: maxAssignees,
    uniqueItems: true,
    description,
    examples: [['019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f']],
  });

/** The body that creates a campaign. */
export const NewCampaign = Type.Object(
  {
    code: label(meanings.code, 'SPRING'),
    name: campaignName,
    duplicateWindowSeconds: Type.Optional(sentWindow),
    approveAfterSeconds: Type.Optional(Type.Union([...holdTimes], aboutHoldTime('0'))),
    isDefault: Type.Optional(
      flag("Whether it replaces the workspace's default campaign. The default is false.", false),
    ),
  },
  { additionalProperties: false, description: 'A new campaign. It is active at once.' },
);
export type NewCampaign = Static<typeof NewCampaign>;

/** The body that changes a campaign: at least one of its fields. */
export const CampaignChanges = Type.Object(
  {
    name: Type.Optional(campaignName),
    status: Type.Optional(CampaignStatus),
    ifStatus: Type.Optional(
      Type.Enum([...campaignStatuses], {
        description:
          'The status that the campaign must have, unless it already has the new one. If it has another one, the answer is 409, and nothing is changed.',
        examples: ['active'],
      }),
    ),
    duplicateWindowSeconds: Type.Optional(sentWindow),
    approveAfterSeconds: Type.Optional(Type.Union([...holdTimes, Type.Null()], aboutHoldTime('0 or null'))),
    isDefault: Type.Optional(
      Type.Literal(true, {
        description:
          "Makes it the workspace's default campaign, in place of the current one. A workspace always has a default campaign.",
        examples: [true],
      }),
    ),
    assigneeIds: Type.Optional(
      assigneeIds(
        `Identifiers of owners and managers to whom new leads are assigned in turn, at most ${maxAssignees}. Assignees that the campaign already has can stay in the list after they have left the workspace or have become publishers. They get no new leads. With an empty list, new leads have no assignee.`,
      ),
    ),
    payout: Type.Optional(
      Type.Union([Payout, Type.Null()], {
        description:
          'The payout of leads whose publisher has none of its own in the campaign. `null` removes it. It applies to leads that become Approved from now on.',
        examples: [{ amount: '12.5', currency: 'EUR' }],
      }),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description: 'The fields to change. Absent fields stay as they are.',
  },
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
    isDefault: flag('Whether the campaign gets intake leads without another campaign.', false),
    duplicateWindowSeconds: Type.Optional(
      Type.Integer({
        description:
          'The duplicate window in seconds. Within it, another lead of the same phone number is a duplicate. Absent if disabled.',
        examples: [2_592_000],
      }),
    ),
    approveAfterSeconds: Type.Optional(
      Type.Integer({
        description:
          'The hold time in seconds, after which a new lead becomes Approved. Absent if it is off.',
        examples: [1_209_600],
      }),
    ),
    assigneeIds: Type.Optional(
      assigneeIds(
        'Identifiers of the users to whom new leads are assigned in turn. Absent without such users, and for publishers.',
      ),
    ),
    payout: Type.Optional(
      Type.Object(Payout.properties, {
        additionalProperties: false,
        description:
          'The payout of leads whose publisher has none of its own in the campaign. A publisher sees its own payout instead. Absent without a payout.',
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
  { additionalProperties: false, description: 'The changed campaign.' },
);

/** The body that registers a landing page before its first lead. */
export const NewLandingPage = Type.Object(
  {
    name: label(meanings.landingPage, 'spring-offer'),
    campaignCode: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'Code of the campaign that gets its leads. If absent, the landing page is unmapped.',
        examples: ['DEMO'],
      }),
    ),
  },
  { additionalProperties: false, description: 'A new landing page.' },
);
export type NewLandingPage = Static<typeof NewLandingPage>;

/** The body that dismisses or restores a landing page. */
export const LandingPageDismissal = Type.Object(
  {
    dismissed: Type.Boolean({
      description:
        '`true` dismisses a landing page that is mapped to no campaign. `false` lets a dismissed landing page wait for approval.',
      examples: [true],
    }),
  },
  { additionalProperties: false, description: 'Whether a landing page is dismissed.' },
);
export type LandingPageDismissal = Static<typeof LandingPageDismissal>;

/** The body that maps or unmaps a landing page. */
export const LandingPageMapping = Type.Object(
  {
    campaignCode: Type.String({
      maxLength: 255,
      description:
        'Code of the campaign that gets its leads from now on. An empty code unmaps the landing page.',
      examples: ['DEMO'],
    }),
  },
  { additionalProperties: false, description: 'The campaign of a landing page.' },
);
export type LandingPageMapping = Static<typeof LandingPageMapping>;

/** The query of the list of landing pages. Values arrive as text. */
export const LandingPageQuery = Type.Object(
  {
    mapped: Type.Optional(
      Type.Enum(['true', 'false'], {
        description: '`true` for mapped landing pages only, `false` for unmapped landing pages only.',
        examples: ['false'],
      }),
    ),
    campaignCode: term('Only landing pages that are mapped to the campaign with this code.', 'DEMO'),
    pending: Type.Optional(
      Type.Enum(['true'], {
        description:
          'Lists the landing pages that wait for approval, instead of all others. Not together with `dismissed`.',
        examples: ['true'],
      }),
    ),
    dismissed: Type.Optional(
      Type.Enum(['true'], {
        description: 'Lists the dismissed landing pages, instead of all others. Not together with `pending`.',
        examples: ['true'],
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
    campaignId: Type.Optional(id('Identifier of the campaign. Absent if the landing page is unmapped.')),
    campaignCode: Type.Optional(
      Type.String({ description: 'Code of the campaign it is mapped to.', examples: ['DEMO'] }),
    ),
    leads: Type.Integer({
      description:
        'The number of its leads. A publisher sees the number of its own leads only. At most the newest 100,000 leads are counted, and at most 1,000,000 for all landing pages of a page.',
      examples: [17],
    }),
    leadsTruncated: Type.Optional(
      Type.Literal(true, {
        description: 'Present if not all leads were counted. `leads` is then a minimum.',
        examples: [true],
      }),
    ),
    pendingSince: Type.Optional(
      dateTime('Since when the landing page waits for approval. Absent if it is approved.'),
    ),
    dismissedAt: Type.Optional(
      dateTime('Since when the landing page is dismissed. Absent if it is approved or waits for approval.'),
    ),
    createdAt: dateTime('Registration time.'),
    updatedAt: dateTime('Time of the last mapping.'),
  },
  { additionalProperties: false, description: 'A landing page.' },
);
export type LandingPageView = Static<typeof LandingPageView>;

/** The answer to a change of a landing page. */
export const LandingPageAnswer = Type.Object(
  { success: Type.Literal(true), landingPage: LandingPageView },
  { additionalProperties: false, description: 'The changed landing page.' },
);

/** The link of a campaign's integration page. */
export const IntegrationLink = Type.Object({
  link: Type.Optional(Type.String({ description: 'The address of the page; absent if there is none.' })),
});
export type IntegrationLink = Static<typeof IntegrationLink>;

/** The integration page of a campaign, for publishers who send leads to it. */
export const IntegrationPageView = Type.Object({
  workspace: Type.String(),
  campaignCode: Type.String(),
  campaign: Type.String(),
  status: CampaignStatus,
  isDefault: Type.Boolean(),
  landingPages: Type.Array(Type.String()),
  addresses: ApiAddresses,
});
export type IntegrationPageView = Static<typeof IntegrationPageView>;
