import { eventSubject, LeadEvent, LeadEventType } from '@leads/core/event';
import { Type } from 'typebox';

const summaries: Readonly<Record<LeadEventType, string>> = {
  'lead.created': 'A lead was created',
  'lead.updated': 'Fields of a lead were changed',
  'lead.status_changed': 'The status of a lead was changed, possibly together with fields',
  'lead.note_added': 'A note was added to a lead. The event has its id, and not its text',
};

const description = `Changes of leads, as CloudEvents 1.0 in JSON. With \`NATS_URL\`, they are in the NATS JetStream stream \`LEADS\`.

Each event is delivered at least once. A repeated event has the same \`id\`, which is also its \`Nats-Msg-Id\`. Events of one lead are in the order of its versions. Without NATS or access to it, clients stream the events of their workspace at \`GET /api/v1/events\` of the CRM service, or receive them by webhooks.`;

const webhookDescription = `Requests to the webhooks of a workspace (Standard Webhooks 1.0). The body is the event. \`webhook-id\` is \`evt_\`, the lead's id, \`_\` and its version, the same in every attempt. \`webhook-timestamp\` is the time of the attempt in seconds. \`webhook-signature\` has a signature for each valid secret.

Each event is delivered at least once. Events may arrive in another order: compare the versions. A test has the type \`webhook.test\` and no lead.`;

/** Returns the AsyncAPI 3.0 document of the events, generated from their schema. */
export function describeEvents(): object {
  const each = <Value>(value: (type: LeadEventType, name: string) => Value): Record<string, Value> =>
    Object.fromEntries(LeadEventType.enum.map((type) => [nameOf(type), value(type, nameOf(type))]));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Leads: events',
      version: '1.0.0',
      description,
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    servers: {
      nats: {
        host: '{host}',
        protocol: 'nats',
        description: 'NATS with JetStream, at the `NATS_URL` of the CRM service.',
        variables: { host: { default: 'localhost:4222', description: 'Host and port.' } },
      },
      receiver: {
        host: '{host}',
        protocol: 'https',
        description: 'The receiver, at the URL of a webhook.',
        variables: { host: { default: 'crm.example.com', description: 'Host and port.' } },
      },
    },
    channels: {
      ...each((type, name) => ({
        address: eventSubject('{workspaceId}', type),
        title: summaries[type],
        servers: [{ $ref: '#/servers/nats' }],
        parameters: { workspaceId: { description: "The workspace's id, a UUID." } },
        messages: { [name]: { $ref: `#/components/messages/${name}` } },
      })),
      webhooks: {
        // The URL is known at runtime only.
        address: null,
        title: 'Webhooks',
        description: webhookDescription,
        servers: [{ $ref: '#/servers/receiver' }],
        messages: each((_type, name) => ({ $ref: `#/components/messages/${name}` })),
      },
    },
    operations: {
      ...each((type, name) => ({
        action: 'send',
        summary: summaries[type],
        channel: { $ref: `#/channels/${name}` },
        messages: [{ $ref: `#/channels/${name}/messages/${name}` }],
      })),
      deliverWebhook: {
        action: 'send',
        summary: 'A change of a lead is sent to a webhook by POST',
        channel: { $ref: '#/channels/webhooks' },
        bindings: { http: { method: 'POST' } },
      },
    },
    components: {
      messages: each((type, name) => ({
        name: type,
        title: summaries[type],
        contentType: 'application/json',
        headers: {
          type: 'object',
          properties: {
            'Nats-Msg-Id': {
              type: 'string',
              description: "In NATS, the event's `id`. JetStream uses it to drop duplicates.",
            },
          },
        },
        payload: { $ref: `#/components/schemas/${name}` },
        examples: [{ name, summary: summaries[type], payload: exampleOf(type) }],
      })),
      schemas: each((type) =>
        Type.Object(
          {
            ...LeadEvent.properties,
            type: Type.Literal(type, { description: summaries[type], examples: [type] }),
          },
          { additionalProperties: false, description: `${summaries[type]} (CloudEvents 1.0).` },
        ),
      ),
    },
  };
}

/** Returns the name of an event type in the document, such as `leadStatusChanged` for `lead.status_changed`. */
function nameOf(type: LeadEventType): string {
  return type.replaceAll(/[._](\w)/g, (_, letter: string) => letter.toUpperCase());
}

const leadId = '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f';
const userId = '019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f';
const createdAt = '2026-11-21T09:30:00.000Z';
const changedAt = '2026-11-21T10:15:00.000Z';

const changes: Readonly<Record<LeadEventType, LeadEvent['data']['change']>> = {
  'lead.created': { version: 1, type: 'created', createdAt, userId, to: 'OnHold' },
  'lead.updated': {
    version: 2,
    type: 'updated',
    createdAt: changedAt,
    userId,
    fields: { city: { to: 'London' } },
  },
  'lead.status_changed': {
    version: 2,
    type: 'status_changed',
    createdAt: changedAt,
    userId,
    from: 'OnHold',
    to: 'Approved',
  },
  'lead.note_added': {
    version: 2,
    type: 'note_added',
    createdAt: changedAt,
    userId,
    noteId: '019c0a3e-5555-7c4e-9f10-2a6b8c0d1e2f',
  },
};

function exampleOf(type: LeadEventType): LeadEvent {
  const change = changes[type];
  return {
    specversion: '1.0',
    id: `${leadId}.${change.version}`,
    source: '/workspaces/019c0a3e-3333-7c4e-9f10-2a6b8c0d1e2f',
    type,
    subject: leadId,
    time: change.createdAt,
    datacontenttype: 'application/json',
    data: {
      lead: {
        id: leadId,
        name: 'Ada Lovelace',
        phone: '+44 20 7946 0958',
        phoneE164: '+442079460958',
        createdAt,
        updatedAt: change.createdAt,
        campaignId: '019c0a3e-4444-7c4e-9f10-2a6b8c0d1e2f',
        campaignCode: 'SPRING',
        userId,
        status: change.to ?? 'OnHold',
        version: change.version,
        source: 'crm',
        ...(change.type === 'updated' && { city: 'London' }),
      },
      change,
    },
  };
}
