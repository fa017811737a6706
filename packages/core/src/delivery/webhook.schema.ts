import { type Static, Type } from 'typebox';
import { LeadEventType } from '../event/lead-event.schema.ts';
import { dateTime, id } from '../fields.ts';
import { LeadStatus } from '../lead/lead-status.ts';
import { disabledReasons, endpointHealth, previewedLead } from './endpoint.schema.ts';

/** The maximum of additional headers of a webhook, and of the campaigns that it is limited to. */
const maxHeaders = 10;
const maxCampaigns = 100;
/** The default and the maximum time for which both secrets sign after a rotation, in seconds. */
export const overlapSeconds = { default: 86_400, maximum: 604_800 } as const;

const meanings = {
  events: 'The event types to send.',
  statuses:
    'Only status changes to one of these statuses are sent. If empty, all are. Events of other types are not affected.',
  campaignCodes: 'Only events of leads of these campaigns are sent. If empty, all are.',
  includesImports: 'Whether the creation of imported leads is sent.',
  description: 'A description for people.',
} as const;

const url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'The URL that receives the events by POST. It has the scheme https.',
  examples: ['https://crm.example.com/leads-events'],
});
const events = Type.Array(LeadEventType, {
  minItems: 1,
  uniqueItems: true,
  description: meanings.events,
  examples: [['lead.created', 'lead.status_changed']],
});
const statuses = Type.Array(LeadStatus, {
  uniqueItems: true,
  description: meanings.statuses,
  examples: [['Approved']],
});
const campaignCodes = Type.Array(Type.String({ minLength: 1, maxLength: 255, examples: ['DEMO'] }), {
  maxItems: maxCampaigns,
  uniqueItems: true,
  description: meanings.campaignCodes,
  examples: [['DEMO']],
});
const includesImports = Type.Boolean({ description: meanings.includesImports, examples: [false] });
const headers = Type.Object(
  {},
  {
    additionalProperties: Type.String({
      maxLength: 1_024,
      pattern: '^[\\x20-\\x7E]*$',
      'x-reason': 'must hold printable ASCII characters only',
    }),
    description: `Additional request headers, ${maxHeaders} at most. Their values are never shown again.`,
    examples: [{ 'X-Key': 'secret' }],
  },
);
const description = Type.String({
  maxLength: 255,
  pattern: '^\\P{Cc}*$',
  'x-reason': 'must not hold control characters',
  description: meanings.description,
  examples: ['Sales CRM'],
});

/** The body that creates a webhook. */
export const NewWebhook = Type.Object(
  {
    url,
    events,
    statuses: Type.Optional(statuses),
    campaignCodes: Type.Optional(campaignCodes),
    includesImports: Type.Optional(includesImports),
    headers: Type.Optional(headers),
    description: Type.Optional(description),
  },
  { additionalProperties: false, description: 'A new webhook. It is enabled.' },
);
export type NewWebhook = Static<typeof NewWebhook>;

/** The body that changes a webhook: at least one of its fields. */
export const WebhookChanges = Type.Object(
  {
    url: Type.Optional(url),
    events: Type.Optional(events),
    statuses: Type.Optional(statuses),
    campaignCodes: Type.Optional(campaignCodes),
    includesImports: Type.Optional(includesImports),
    headers: Type.Optional(headers),
    description: Type.Optional(description),
    enabled: Type.Optional(
      Type.Boolean({
        description:
          '`false` disables the webhook. `true` enables it again and resets its failures. Events of the time between are skipped.',
        examples: [true],
      }),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description:
      'The fields to change. Absent fields stay as they are. `headers` replaces all headers. An empty `description` removes it.',
  },
);
export type WebhookChanges = Static<typeof WebhookChanges>;

/** The body that renders the request of a webhook for a lead. */
export const WebhookPreview = Type.Object(
  {
    url,
    headerNames: Type.Optional(
      Type.Array(Type.String({ examples: ['X-Key'] }), {
        description: `The names of additional request headers, ${maxHeaders} at most.`,
        examples: [['X-Key']],
      }),
    ),
    leadId: previewedLead,
  },
  { additionalProperties: false, description: 'The webhook, and the lead to render its request for.' },
);
export type WebhookPreview = Static<typeof WebhookPreview>;

/** The answer to a preview. */
export const WebhookPreviewAnswer = Type.Object(
  {
    success: Type.Literal(true),
    request: Type.Object(
      {
        method: Type.Literal('POST', { description: 'The method.', examples: ['POST'] }),
        url,
        headers: Type.Object(
          {},
          {
            additionalProperties: Type.String(),
            description:
              'The headers. `webhook-id` is the same in every attempt, and `webhook-timestamp` is the time of the attempt in seconds. `webhook-signature` is a placeholder: requests have `v1,` and the HMAC-SHA256 in base64 of `{webhook-id}.{webhook-timestamp}.{body}`, with the secret of the webhook as the key. The values of additional headers are hidden.',
            examples: [
              {
                'X-Key': '(hidden)',
                'content-type': 'application/cloudevents+json',
                'user-agent': 'leads-webhooks/1',
                'webhook-id': 'evt_019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f_1',
                'webhook-timestamp': '1795433400',
                'webhook-signature': 'v1,(signature)',
              },
            ],
          },
        ),
        body: Type.String({
          description: 'The body: the event as a CloudEvent.',
          examples: ['{"specversion":"1.0","type":"lead.created"}'],
        }),
      },
      {
        additionalProperties: false,
        description:
          'The request for the newest event of the lead, as a webhook for all events would get it.',
      },
    ),
  },
  { additionalProperties: false, description: 'The request. It is not sent.' },
);
export type WebhookRequest = Static<typeof WebhookPreviewAnswer>['request'];

/** The body that rotates the secret of a webhook. */
export const SecretRotation = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: overlapSeconds.maximum,
        description:
          'How long requests are also signed with the old secret, in seconds: up to 7 days. The default is 1 day.',
        examples: [overlapSeconds.default],
      }),
    ),
  },
  { additionalProperties: false, description: 'The rotation of a secret.' },
);
export type SecretRotation = Static<typeof SecretRotation>;

/** The representation of a webhook. */
export const WebhookView = Type.Object(
  {
    id: id('Unique identifier of the webhook (UUID).'),
    url: Type.String({
      description: 'The URL that receives the events.',
      examples: ['https://crm.example.com/leads-events'],
    }),
    events: Type.Array(LeadEventType, { description: meanings.events, examples: [['lead.created']] }),
    statuses,
    campaignCodes: Type.Array(Type.String(), {
      description: meanings.campaignCodes,
      examples: [['DEMO']],
    }),
    includesImports,
    headerNames: Type.Array(Type.String(), {
      description: 'The names of the additional headers.',
      examples: [['X-Key']],
    }),
    description: Type.Optional(Type.String({ description: meanings.description, examples: ['Sales CRM'] })),
    enabled: Type.Boolean({ description: 'Whether events are sent.', examples: [true] }),
    disabledReason: Type.Optional(
      Type.Enum([...disabledReasons], {
        description:
          'Why it is disabled: `user` for a request, `receiver` for an answer of 410 or with `webhook-delivery: disable`, `failing` for 3 days without a success. Absent while it is enabled.',
        examples: ['failing'],
      }),
    ),
    disabledAt: Type.Optional(dateTime('When it was disabled. Absent while it is enabled.')),
    previousSecretUntil: Type.Optional(
      dateTime('Until when requests are also signed with the secret before the last rotation.'),
    ),
    ...endpointHealth,
  },
  { additionalProperties: false, description: 'A webhook.' },
);
export type WebhookView = Static<typeof WebhookView>;

/** The answer to a change of a webhook. */
export const WebhookAnswer = Type.Object(
  { success: Type.Literal(true), webhook: WebhookView },
  { additionalProperties: false, description: 'The webhook.' },
);

/** The answer that shows the secret of a webhook. No other answer contains it. */
export const WebhookShown = Type.Object(
  {
    success: Type.Literal(true),
    webhook: WebhookView,
    secret: Type.String({
      description: 'The secret that signs requests (Standard Webhooks 1.0). It is shown only once.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
    }),
  },
  { additionalProperties: false, description: 'The webhook and its secret.' },
);
export type WebhookShown = Static<typeof WebhookShown>;

/** Checks what a schema cannot: the number and the names of headers. */
export const headerRules = {
  max: maxHeaders,
  name: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/,
  /** Headers that the sender sets, or that concern the connection (RFC 9110, 7.6.1). */
  reserved:
    /^(?:webhook-.*|content-.*|host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|cookie|user-agent|accept-encoding)$/i,
} as const;
