import { type Static, Type } from 'typebox';
import { dateTime, id } from '../fields.ts';
import { LeadFilterQuery } from '../lead/lead.schema.ts';
import { LeadStatus } from '../lead/lead-status.ts';
import { CountryQuery } from '../overview/overview.schema.ts';

const day = (description: string) =>
  Type.Optional(Type.String({ format: 'date', description, examples: ['2026-01-31'] }));

/** The query of a statement: its days and time zone, and optionally one publisher and one campaign. */
export const StatementQuery = Type.Object(
  {
    from: day('The first day. The default is the first day of the month of `to`.'),
    to: day('The last day. The default is the present day in the time zone, or `from` if that is later.'),
    zone: CountryQuery.properties.zone,
    user: Type.Optional(LeadFilterQuery.properties.user),
    campaignCode: LeadFilterQuery.properties.campaignCode,
  },
  { additionalProperties: false },
);
export type StatementQuery = Static<typeof StatementQuery>;

const sum = {
  status: LeadStatus,
  currency: Type.Optional(
    Type.String({
      description: 'The currency of the leads (ISO 4217). Absent for leads without a payout.',
      examples: ['EUR'],
    }),
  ),
  leads: Type.Integer({ description: 'The number of leads.', examples: [120] }),
  amount: Type.Optional(
    Type.String({
      description:
        'The sum of the payouts as decimal text: expected of OnHold leads, payable of Approved leads, paid of Paid leads. Absent for leads without a payout.',
      examples: ['1500.5'],
    }),
  ),
};

const exampleSum = { status: 'Approved', currency: 'EUR', leads: 120, amount: '1500.5' };

const totals = (description: string) =>
  Type.Array(Type.Object(sum, { additionalProperties: false }), { description, examples: [[exampleSum]] });

const exampleItem = {
  campaignId: '019c0a3e-0000-7c4e-9f10-2a6b8c0d1e2f',
  campaignCode: 'DEMO',
  ...exampleSum,
};
const exampleStatement = {
  userId: '019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f',
  name: 'Ada Lovelace',
  items: [exampleItem],
  totals: [exampleSum],
};

/** The statement of one publisher. */
const PublisherStatement = Type.Object(
  {
    userId: id('Identifier of the publisher.'),
    name: Type.Optional(
      Type.String({
        description: 'Name of the publisher. Absent if it has left the workspace.',
        examples: ['Ada Lovelace'],
      }),
    ),
    items: Type.Array(
      Type.Object(
        {
          campaignId: id('Identifier of the campaign.'),
          campaignCode: Type.String({ description: 'Code of the campaign.', examples: ['DEMO'] }),
          ...sum,
        },
        { additionalProperties: false },
      ),
      {
        description: 'One item for each campaign, status and currency with leads.',
        examples: [[exampleItem]],
      },
    ),
    totals: totals('The items of all campaigns, added up by status and currency.'),
  },
  { additionalProperties: false, description: 'The statement of one publisher.' },
);

/** What the leads of a range of days are worth to their publishers. */
export const Statement = Type.Object(
  {
    from: dateTime('The first moment of the first day.'),
    to: dateTime('The first moment after the last day.'),
    publishers: Type.Array(PublisherStatement, {
      description: 'The publishers with leads in this time.',
      examples: [[exampleStatement]],
    }),
    totals: totals('The items of all publishers, added up by status and currency.'),
  },
  { additionalProperties: false, description: 'The leads that were created in a range of days.' },
);
export type Statement = Static<typeof Statement>;
