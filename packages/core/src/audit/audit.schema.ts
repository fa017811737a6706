import { type Static, Type } from 'typebox';
import { dateTime, id } from '../fields.ts';
import { pageParameters } from '../paging.ts';
import { auditActions, auditSources } from './audit-actions.ts';

/** The query of the list of audit entries. */
export const AuditQuery = Type.Object(
  {
    action: Type.Optional(Type.Enum([...auditActions], { description: 'Only entries of this action.' })),
    actorId: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'Only actions of this user.',
        examples: ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'],
      }),
    ),
    from: Type.Optional(dateTime('Only entries at this time or later.')),
    to: Type.Optional(dateTime('Only entries before this time.')),
    ...pageParameters('Entries'),
  },
  { additionalProperties: false },
);
export type AuditQuery = Static<typeof AuditQuery>;

/** An entry of the audit log. */
export const AuditEntryView = Type.Object(
  {
    id: id('Unique identifier of the entry (UUID).'),
    at: dateTime('When the action happened.'),
    action: Type.String({ description: 'The action.', examples: ['api_key.created'] }),
    source: Type.Enum([...auditSources], {
      description: 'Where the action comes from: the website, the API, or the command line.',
      examples: ['website'],
    }),
    actorId: Type.Optional(id('The user that acted. Absent for the command line and for failed sign-ins.')),
    actorEmail: Type.Optional(
      Type.String({ description: 'The email address of that user.', examples: ['ada@example.com'] }),
    ),
    apiKeyId: Type.Optional(id('The API key of the request.')),
    address: Type.Optional(
      Type.String({ description: 'The address of the client.', examples: ['203.0.113.7'] }),
    ),
    userAgent: Type.Optional(
      Type.String({ description: 'The user agent of the client.', examples: ['curl/8.5.0'] }),
    ),
    targetId: Type.Optional(id('The key, token, member or other object that the action concerns.')),
    details: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
      description: 'Details of the action, such as the name of a key or the old and the new role.',
      examples: [{ name: 'Shop integration' }],
    }),
  },
  { additionalProperties: false, description: 'An entry of the audit log.' },
);
export type AuditEntryView = Static<typeof AuditEntryView>;
