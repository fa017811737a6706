import { type Static, Type } from 'typebox';
import { dateTime, id } from '../fields.ts';

/** The reasons why a webhook or a postback is disabled. */
export const disabledReasons = ['user', 'receiver', 'failing'] as const;

/** The lead that a preview renders a request for. */
export const previewedLead = Type.String({
  format: 'uuid',
  description: 'The lead. The caller must be able to see it.',
  examples: ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'],
});

/** A webhook or postback that has failed for 24 h, or that the service has disabled. */
export const FailingEndpoint = Type.Object({
  id: id('The webhook or the postback.'),
  kind: Type.Enum(['webhook', 'postback'], { description: 'What it is.' }),
  name: Type.String({ description: 'Its description, or without one its host.' }),
  disabledReason: Type.Optional(
    Type.Enum(['receiver', 'failing'], { description: 'Absent while it is enabled.' }),
  ),
  since: dateTime('When it was disabled, or its first failed attempt since the last success.'),
});
export type FailingEndpoint = Static<typeof FailingEndpoint>;

/** The number of the newest deliveries that the success rate is of. */
export const ratedDeliveries = 1_000;

/** The properties of the health of a webhook or a postback. */
export const endpointHealth = {
  failures: Type.Integer({ description: 'The failed attempts since the last success.', examples: [0] }),
  failingSince: Type.Optional(dateTime('The first failed attempt since the last success.')),
  lastSuccessAt: Type.Optional(dateTime('The last success. The time may be some seconds old.')),
  successRate: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: `The share of deliveries that have succeeded, of those among the newest ${ratedDeliveries.toLocaleString('en')} that had an attempt. Absent if none had.`,
      examples: [0.998],
    }),
  ),
  nextAttemptAt: Type.Optional(
    dateTime('When the next attempt of a waiting delivery is due. Absent if none waits.'),
  ),
  lagSeconds: Type.Integer({
    description: 'How long that attempt is overdue, in seconds.',
    examples: [0],
  }),
  createdAt: dateTime('Creation time.'),
  updatedAt: dateTime('Last update time.'),
} as const;
