import { type Static, Type } from 'typebox';
import { LeadDetail, LeadHistoryEntry } from '../lead/lead.schema.ts';

/** The event type of each type of history entry. */
const eventTypes = {
  created: 'lead.created',
  updated: 'lead.updated',
  status_changed: 'lead.status_changed',
  note_added: 'lead.note_added',
} as const satisfies Record<LeadHistoryEntry['type'], string>;
export type LeadEventType = (typeof eventTypes)[LeadHistoryEntry['type']];

export const LeadEventType = Type.Enum(Object.values(eventTypes), {
  description:
    'The type of the change. A change of both fields and status has the type `lead.status_changed`.',
  examples: ['lead.created'],
});

export const typeOfChange = ({ type }: LeadHistoryEntry): LeadEventType => eventTypes[type];

/** The length to which the texts of a truncated event are cut, in UTF-16 code units. */
export const truncatedTextLength = 256;

/** An event about a lead: a CloudEvent 1.0 in its JSON format (CloudEvents, JSON event format 1.0.2). */
export const LeadEvent = Type.Object(
  {
    specversion: Type.Literal('1.0'),
    id: Type.String({
      description:
        "The lead's id and its version after the change. An event may be delivered more than once, with the same id.",
      examples: ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f.1'],
    }),
    source: Type.String({
      format: 'uri-reference',
      description: 'The workspace: `/workspaces/` and its id.',
      examples: ['/workspaces/019c0a3e-3333-7c4e-9f10-2a6b8c0d1e2f'],
    }),
    type: LeadEventType,
    subject: Type.String({
      description: "The lead's id. Events of one lead are delivered in the order of their versions.",
      examples: ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'],
    }),
    time: Type.String({
      format: 'date-time',
      description: 'The time of the change.',
      examples: ['2026-11-21T09:30:00.000Z'],
    }),
    datacontenttype: Type.Literal('application/json'),
    traceparent: Type.Optional(
      Type.String({
        pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
        description:
          'The trace context of the request, if it was traced (CloudEvents, Distributed Tracing extension; W3C Trace Context). In NATS, the message also has it as a header of this name.',
        examples: ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
      }),
    ),
    data: Type.Object(
      {
        lead: LeadDetail,
        change: LeadHistoryEntry,
        truncated: Type.Optional(
          Type.Literal(true, {
            description: `Present if the event exceeds the largest message of NATS. All texts are then cut to ${truncatedTextLength} characters, and \`extra\` is empty. Read the lead and its history by the id of the lead.`,
          }),
        ),
      },
      { additionalProperties: false, description: 'The lead after the change, and the change.' },
    ),
  },
  { additionalProperties: false, description: 'An event about a lead (CloudEvents 1.0).' },
);
export type LeadEvent = Static<typeof LeadEvent>;
