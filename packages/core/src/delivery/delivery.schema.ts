import { type Static, Type } from 'typebox';
import { dateTime, id } from '../fields.ts';
import { pageParameters } from '../paging.ts';

/** The event types of tests. */
export const testEventType = 'webhook.test';
export const testPostbackType = 'postback.test';

/** The states of a delivery. */
export const deliveryStates = ['waiting', 'delivered', 'failed', 'skipped', 'superseded'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

/** The query of the list of deliveries of a webhook or a postback. Values arrive as text. */
export const DeliveryQuery = Type.Object(
  {
    state: Type.Optional(
      Type.Enum([...deliveryStates], { description: 'Only deliveries in this state.', examples: ['failed'] }),
    ),
    leadId: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'Only deliveries of events of this lead.',
        examples: ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'],
      }),
    ),
    statusCode: Type.Optional(
      Type.String({
        pattern: '^[1-5][0-9]{2}$',
        'x-integer': { minimum: 100, maximum: 599 },
        'x-reason': 'must be a status code',
        description: 'Only deliveries whose last attempt was answered with this status code.',
        examples: ['500'],
      }),
    ),
    from: Type.Optional(dateTime('Only deliveries of events at this time or later.')),
    to: Type.Optional(dateTime('Only deliveries of events before this time.')),
    ...pageParameters('Deliveries'),
  },
  { additionalProperties: false },
);
export type DeliveryQuery = Static<typeof DeliveryQuery>;

const { leadId: _leadId, ...filters } = DeliveryQuery.properties;

/** The query of the list of the deliveries of a lead. */
export const LeadDeliveryQuery = Type.Object(filters, { additionalProperties: false });
export type LeadDeliveryQuery = Static<typeof LeadDeliveryQuery>;

/** The representation of a delivery. */
export const DeliveryView = Type.Object(
  {
    id: id('Unique identifier of the delivery (UUID).'),
    webhookId: Type.Optional(id('The webhook. Absent for a delivery to a postback.')),
    postbackId: Type.Optional(id('The postback. Absent for a delivery to a webhook.')),
    host: Type.String({
      description: 'The host of the URL of the webhook or the postback.',
      examples: ['crm.example.com'],
    }),
    messageId: Type.Optional(
      Type.String({
        description:
          'The `webhook-id` of its requests, the same in every attempt. Absent for a delivery to a postback.',
        examples: ['evt_019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f_1'],
      }),
    ),
    event: Type.String({ description: 'The event type.', examples: ['lead.created'] }),
    leadId: Type.Optional(id('The lead. Absent for a test.')),
    version: Type.Optional(
      Type.Integer({ description: 'The version of the lead that the event reports.', examples: [1] }),
    ),
    state: Type.Enum([...deliveryStates], {
      description:
        '`waiting` for the next attempt, `delivered`, `failed` after the last attempt, `skipped`, or `superseded` for a request of a postback that a newer status has overtaken.',
      examples: ['delivered'],
    }),
    skipReason: Type.Optional(
      Type.Enum(['no_s1', 'unchanged'], {
        description:
          'Why a postback was skipped: `no_s1` for a lead without `s1`, or `unchanged` if the request equals the last delivered request for the lead. Absent if the webhook or the postback was disabled.',
        examples: ['unchanged'],
      }),
    ),
    attempts: Type.Integer({ description: 'The number of attempts.', examples: [1] }),
    nextAttemptAt: Type.Optional(dateTime('When the next attempt is due.')),
    lastAttemptAt: Type.Optional(dateTime('The time of the last attempt.')),
    durationMs: Type.Optional(
      Type.Integer({ description: 'The duration of the last attempt in milliseconds.', examples: [42] }),
    ),
    statusCode: Type.Optional(
      Type.Integer({ description: 'The status code of the last answer.', examples: [200] }),
    ),
    error: Type.Optional(
      Type.String({
        description: 'Why the last attempt failed, if its status code is no failure or absent: a short code.',
        examples: ['connection_refused'],
      }),
    ),
    answer: Type.Optional(
      Type.String({
        description: 'The first KiB of the answer to the last attempt, if that attempt failed.',
        examples: ['Internal Server Error'],
      }),
    ),
    request: Type.Optional(
      Type.String({
        description:
          'The last request to a postback. Personal data and the reason are masked. Of a webhook, the request without its headers: method, URL, an empty line, body. It is only in the answer for a single delivery of an event, and the key needs the scope `leads:read`.',
        examples: ['GET https://tracker.example/postback?cid=click-8f14e45f'],
      }),
    ),
    createdAt: dateTime('When the delivery was created.'),
  },
  {
    additionalProperties: false,
    description: 'The delivery of an event to a webhook, or of a status to a postback.',
  },
);
export type DeliveryView = Static<typeof DeliveryView>;

/** The answer to a request for one delivery. */
export const DeliveryAnswer = Type.Object(
  { success: Type.Literal(true), delivery: DeliveryView },
  { additionalProperties: false, description: 'The delivery.' },
);

/** The body that sends missed deliveries again. */
export const Recovery = Type.Object(
  {
    since: dateTime('The first creation time of the deliveries to send again.'),
    until: Type.Optional(dateTime('The end of the range, exclusive. If absent, now.')),
  },
  { additionalProperties: false, description: 'The range of deliveries to send again.' },
);
export type Recovery = Static<typeof Recovery>;

/** The answer to a recovery. */
export const RecoveryAnswer = Type.Object(
  {
    success: Type.Literal(true),
    deliveries: Type.Integer({ description: 'The number of deliveries that are sent again.', examples: [3] }),
  },
  { additionalProperties: false, description: 'The result of a recovery.' },
);
