import { type Static, Type } from 'typebox';
import { uuidListPattern } from '../fields.ts';

const day = (description: string) => Type.String({ format: 'date', description, examples: ['2026-01-31'] });

/** The query of an overview: its days and time zone. */
export const OverviewQuery = Type.Object(
  {
    from: day('The first day.'),
    to: day('The last day.'),
    compareFrom: Type.Optional(day('The first day to compare with.')),
    compareTo: Type.Optional(day('The last day to compare with.')),
    zone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The time zone of the days (IANA). The default is UTC.',
        examples: ['Europe/Berlin'],
      }),
    ),
  },
  { additionalProperties: false },
);
export type OverviewQuery = Static<typeof OverviewQuery>;

const count = (description: string) => Type.Integer({ description, examples: [12] });
const rate = (description: string) =>
  Type.Union([Type.Number(), Type.Null()], {
    description: `${description} From 0 to 1, or null if the divisor is 0.`,
    examples: [0.25],
  });

const statusCounts = {
  OnHold: count('Leads on hold.'),
  Approved: count('Approved leads.'),
  Paid: count('Paid leads.'),
  Trashed: count('Trashed leads.'),
};

export const summary = {
  ...statusCounts,
  total: count('All leads.'),
  approveRate: rate('The share of approved and paid leads in all leads.'),
  approveRateWithoutTrash: rate('The share of approved and paid leads in all leads that are not trashed.'),
};

const Summary = Type.Object(summary, { additionalProperties: false });
const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-01-31T00:00:00.000Z'] });
const list = <Item extends Parameters<typeof Type.Array>[0]>(item: Item, description: string) =>
  Type.Array(item, { description });
const named = (description: string) =>
  Type.Object(
    { ...summary, value: Type.String({ description, examples: ['DEMO'] }) },
    { additionalProperties: false },
  );

export const record = (value: string, name: string) =>
  Type.Object(
    {
      ...summary,
      value: Type.String({ description: value, examples: ['DEMO'] }),
      name: Type.String({ description: name, examples: ['Demo campaign'] }),
    },
    { additionalProperties: false },
  );

/** The counts of leads in a range of days, by status. */
export const Overview = Type.Object(
  {
    from: time('The first moment of the range.'),
    to: time('The first moment after it.'),
    unit: Type.Enum(['hour', 'day', 'week', 'month', 'quarter'], {
      description: 'The length of a step. The range may shorten the first and the last step.',
      examples: ['day'],
    }),
    steps: list(
      Type.Object({ start: time('Its first moment.'), ...statusCounts }, { additionalProperties: false }),
      'At most 100 steps by creation time, oldest first.',
    ),
    total: Summary,
    previous: Type.Object(
      { from: time('Its first moment.'), to: time('The first moment after it.'), ...summary },
      {
        additionalProperties: false,
        description:
          'The compared days: by default, the same number of days before the range. If the range has not ended, they end at the same time of day.',
      },
    ),
    campaigns: list(
      record('Code of the campaign.', 'Name of the campaign.'),
      'The campaigns with the most leads.',
    ),
    publishers: list(
      record('Identifier of the user.', 'Name of the user.'),
      'The users who created the most leads. Empty for a publisher, who sees no other leads.',
    ),
    hours: list(
      Type.Object(
        {
          ...summary,
          hour: Type.Integer({ description: 'The hour of the day, from 0 to 23.', examples: [9] }),
        },
        { additionalProperties: false },
      ),
      'The hours of the day with leads, in the time zone of the query.',
    ),
    landingPages: list(named('Name of the landing page.'), 'The landing pages with the most leads.'),
    s1: list(named('The sub-id.'), 'The sub-ids with the most leads.'),
    s1Others: count('Leads whose sub-ids are not counted separately. Each day counts its first 100 sub-ids.'),
  },
  { additionalProperties: false, description: 'The counts of leads in a range of days, by status.' },
);
export type Overview = Static<typeof Overview>;

const amount = (description: string) =>
  Type.String({ description: `${description} Decimal text.`, examples: ['1500.5'] });

/** The payouts of leads in one currency, added up. */
const PayoutSum = Type.Object(
  {
    currency: Type.String({ description: 'The currency (ISO 4217).', examples: ['EUR'] }),
    expected: amount('The sum of the payouts of leads on hold.'),
    payable: amount('The sum of the payouts of approved leads.'),
    paid: amount('The sum of the payouts of paid leads.'),
  },
  { additionalProperties: false },
);
export type PayoutSum = Static<typeof PayoutSum>;

const payouts = Type.Array(PayoutSum, { description: 'The payouts, in the order of their currencies.' });
const payoutsBy = (description: string) =>
  Type.Object(
    { value: Type.String({ description, examples: ['DEMO'] }), payouts },
    { additionalProperties: false },
  );

/** The payouts of leads in a range of days. */
export const OverviewPayouts = Type.Object(
  {
    total: payouts,
    previous: payouts,
    steps: Type.Optional(
      list(
        payouts,
        'The payouts of each step of the overview. Absent if more than about 200,000 leads would have to be read for them.',
      ),
    ),
    campaigns: list(payoutsBy('Code of the campaign.'), 'The campaigns with the most leads.'),
  },
  { additionalProperties: false, description: 'The payouts of leads in a range of days, by currency.' },
);
export type OverviewPayouts = Static<typeof OverviewPayouts>;

/** The query of the payouts of publishers. */
export const PublisherPayoutsQuery = Type.Object(
  {
    ...Type.Pick(OverviewQuery, ['from', 'to', 'zone']).properties,
    users: Type.String({
      pattern: uuidListPattern(20),
      'x-reason': 'must be 1 to 20 identifiers of users, separated by commas',
      description: 'The identifiers of at most 20 users, separated by commas.',
      examples: ['019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f'],
    }),
  },
  { additionalProperties: false },
);
export type PublisherPayoutsQuery = Static<typeof PublisherPayoutsQuery>;

/** The payouts of some publishers or sub-ids. */
export const PayoutsByValue = Type.Array(payoutsBy('Identifier of the user, or the sub-id.'));
export type PayoutsByValue = Static<typeof PayoutsByValue>;

/** The query of the counts by country, and of the payouts by sub-id. */
export const CountryQuery = Type.Pick(OverviewQuery, ['from', 'to', 'zone'], { additionalProperties: false });
export type CountryQuery = Static<typeof CountryQuery>;

/** The countries with the most leads. */
export const Countries = Type.Array(named('The first 64 characters of the country.'));
export type Countries = Static<typeof Countries>;

export type OverviewUnit = Overview['unit'];
