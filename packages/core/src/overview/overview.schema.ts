import { type Static, Type } from 'typebox';

const day = (description: string) => Type.String({ format: 'date', description, examples: ['2026-01-31'] });

/** Of which days an overview is asked for. */
export const OverviewQuery = Type.Object(
  {
    from: day('The first day.'),
    to: day('The last day.'),
    zone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The time zone whose days they are (IANA). When absent, UTC.',
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
    description: `${description} From 0 to 1; null where there is nothing to divide by.`,
    examples: [0.25],
  });

const counts = {
  OnHold: count('Leads on hold.'),
  Approved: count('Approved leads.'),
  Paid: count('Paid leads.'),
  Trashed: count('Trashed leads.'),
};

const summary = {
  ...counts,
  total: count('All of them.'),
  approveRate: rate('Approved and paid leads of all leads.'),
  approveRateWithoutTrash: rate('Approved and paid leads of those that are not trashed.'),
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

/** How many leads there are in a range of days, and what became of them. */
export const Overview = Type.Object(
  {
    from: time('The first moment of the range.'),
    to: time('The first moment after it.'),
    unit: Type.Enum(['hour', 'day', 'week', 'month', 'quarter'], {
      description: 'How long a step is. The first and the last may be cut short by the range.',
      examples: ['day'],
    }),
    steps: list(
      Type.Object({ start: time('Its first moment.'), ...counts }, { additionalProperties: false }),
      'The leads by the time they were created, oldest first; a hundred or fewer.',
    ),
    total: Summary,
    previous: Type.Object(
      { from: time('Its first moment.'), ...summary },
      { additionalProperties: false, description: 'As many days before the range.' },
    ),
    campaigns: list(
      Type.Object(
        {
          ...summary,
          value: Type.String({ description: 'Code of the campaign.', examples: ['DEMO'] }),
          name: Type.String({ description: 'Name of the campaign.', examples: ['Demo campaign'] }),
        },
        { additionalProperties: false },
      ),
      'The campaigns with the most leads.',
    ),
    landingPages: list(named('Name of the landing page.'), 'The landing pages with the most leads.'),
    s1: list(named('The sub-id.'), 'The sub-ids with the most leads.'),
    s1Others: count('Leads whose sub-ids are not told apart: of each day, the first 100 are.'),
  },
  { additionalProperties: false, description: 'What became of the leads of some days.' },
);
export type Overview = Static<typeof Overview>;

export type OverviewUnit = Overview['unit'];
