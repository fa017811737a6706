import { type Static, Type } from 'typebox';
import { dateTime, id } from '../fields.ts';
import { LeadFilterQuery } from '../lead/lead.schema.ts';
import { CountryQuery } from '../overview/overview.schema.ts';
import { pageParameters } from '../paging.ts';
import { Payout } from './payout.schema.ts';

/** The maximum number of leads of a payment. */
export const maxPaidLeads = 100_000;

/** The states of a payment. */
const paymentStates = ['paying', 'paid', 'cancelling', 'cancelled'] as const;

/** The states of a lead of a payment. */
const paymentLeadStates = ['planned', 'paid', 'skipped', 'returned', 'kept'] as const;

/** Why a step of a payment failed, as users read it. */
export const paymentFailures = {
  unavailable:
    'The database did not answer in time. The service tries again by itself, and the payment continues where it stopped.',
  rejected:
    'The database rejected the change of a lead. The service tries again by itself. If this remains, ask the operator to look for "A payment made no progress" in the log, or cancel the payment.',
} as const;

const day = (description: string) => Type.String({ format: 'date', description, examples: ['2026-01-31'] });
const { currency } = Payout.properties;
const note = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 1000,
    description: 'A note, such as the reference of a bank transfer. The publisher sees it.',
    examples: ['Invoice 4711'],
  }),
);

/** The body of a request that creates a payment. */
export const NewPayment = Type.Object(
  {
    userId: Type.String({
      format: 'uuid',
      description: 'The publisher.',
      examples: ['019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f'],
    }),
    from: day('The first day on which the leads were created.'),
    to: day('The last day on which the leads were created.'),
    zone: CountryQuery.properties.zone,
    campaignCode: LeadFilterQuery.properties.campaignCode,
    currency,
    date: day('The day of the payment.'),
    note,
  },
  { additionalProperties: false, description: 'The leads to pay, as in a statement, and the payment.' },
);
export type NewPayment = Static<typeof NewPayment>;

/** The body of a request that cancels a payment. */
export const PaymentCancellation = Type.Object(
  {
    reason: Type.String({
      minLength: 1,
      maxLength: 900,
      description: 'The reason. The history of each lead has it.',
      examples: ['The bank returned the transfer'],
    }),
  },
  { additionalProperties: false, description: 'Why the payment is cancelled.' },
);

const count = (description: string) => Type.Integer({ minimum: 0, description, examples: [120] });
const amount = (description: string) => Type.String({ description, examples: ['1500.5'] });

/** A payment to a publisher, with its progress. */
export const Payment = Type.Object(
  {
    id: id('Unique identifier of the payment (UUID).'),
    number: Type.Integer({
      minimum: 1,
      description: 'The number of the payment in the workspace: 1, 2, 3 and so on, without a gap.',
      examples: [12],
    }),
    userId: id('The publisher.'),
    createdBy: id('The user that created the payment.'),
    from: dateTime('The first moment of the first day.'),
    to: dateTime('The first moment after the last day.'),
    campaignCode: Type.Optional(
      Type.String({
        description: 'The campaign. Absent for the leads of all campaigns.',
        examples: ['DEMO'],
      }),
    ),
    currency,
    date: day('The day of the payment.'),
    note,
    state: Type.Enum([...paymentStates], {
      description:
        'State of the payment. `paying` and `cancelling` are in progress, and continue after a restart of the service.',
      examples: ['paid'],
    }),
    total: count('The number of leads that were Approved when the payment was created.'),
    leads: count(
      'The number of leads that the payment has marked as Paid. A cancellation does not change it.',
    ),
    amount: amount('The amount of these leads as decimal text.'),
    skipped: count('The number of leads that had changed before the payment reached them.'),
    returned: count('The number of its leads that became Approved again, by a cancellation or by a change.'),
    kept: count(
      'The number of leads that a cancellation did not change, because they had changed meanwhile.',
    ),
    createdAt: dateTime('When the payment was created.'),
    failure: Type.Optional(
      Type.String({
        description:
          'Why the payment makes no progress at present. Absent after the next step that succeeds.',
        examples: [paymentFailures.unavailable],
      }),
    ),
    retryAt: Type.Optional(dateTime('When the service tries again after a failure.')),
    cancelledAt: Type.Optional(dateTime('When the payment was cancelled.')),
    cancelledBy: Type.Optional(id('The owner that cancelled the payment.')),
    cancelReason: Type.Optional(
      Type.String({
        description: 'Why the payment was cancelled.',
        examples: ['The bank returned the transfer'],
      }),
    ),
  },
  { additionalProperties: false, description: 'A payment.' },
);
export type Payment = Static<typeof Payment>;

/** A lead of a payment. */
export const PaymentLead = Type.Object(
  {
    id: id('The lead. It may be erased.'),
    amount: amount('Its payout when the payment was created, as decimal text.'),
    state: Type.Enum([...paymentLeadStates], {
      description:
        'What the payment did: `planned` is not reached yet, `paid` was marked as Paid, `skipped` had changed before, `returned` is Approved again, and `kept` was not changed by the cancellation.',
      examples: ['paid'],
    }),
  },
  { additionalProperties: false, description: 'A lead of a payment.' },
);
export type PaymentLead = Static<typeof PaymentLead>;

/** The response to a request that creates or cancels a payment. */
export const PaymentAnswer = Type.Object(
  { success: Type.Literal(true), payment: Payment },
  { additionalProperties: false, description: 'The payment.' },
);

/** The response to a request that reads a payment. */
export const PaymentWithLeads = Type.Object(
  {
    payment: Payment,
    leads: Type.Array(PaymentLead, {
      description: 'One page of its leads, in the order of their ids.',
      examples: [[{ id: '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f', amount: '12.5', state: 'paid' }]],
    }),
  },
  { additionalProperties: false, description: 'A payment with one page of its leads.' },
);

export type PaymentWithLeads = Static<typeof PaymentWithLeads>;

/** The query of the list of payments. */
export const PaymentQuery = Type.Object(
  { user: Type.Optional(LeadFilterQuery.properties.user), ...pageParameters('Payments') },
  { additionalProperties: false },
);
export type PaymentQuery = Static<typeof PaymentQuery>;

/** The query of the leads of a payment. */
export const PaymentLeadQuery = Type.Object(pageParameters('Leads'), { additionalProperties: false });
export type PaymentLeadQuery = Static<typeof PaymentLeadQuery>;
