import { type Static, Type } from 'typebox';
import { dateTime } from '../fields.ts';
import { pageParameters } from '../paging.ts';
import { type LeadFieldName, leadFieldNames, leadFields, newLeadFieldNames } from './lead-fields.ts';
import { LeadStatus } from './lead-status.ts';

const text = (
  description: string,
  example: string,
  options: { minLength?: number; maxLength?: number } = {},
) => Type.String({ description, examples: [example], ...options });

const optionalText = (description: string, example: string) => Type.Optional(text(description, example));

/** Returns optional text properties for fields of a lead. */
function fieldTexts<Name extends LeadFieldName>(
  names: readonly Name[],
  toDescription = (description: string) => description,
): Record<Name, ReturnType<typeof optionalText>> {
  const properties = names.map((name) => {
    const { description, example } = leadFields[name];
    return [name, optionalText(toDescription(description), example)] as const;
  });
  return Object.fromEntries(properties) as Record<Name, ReturnType<typeof optionalText>>;
}

/**
 * The body of the CRM's create (specification, 2.1). Fields it does not name are allowed and kept in the
 * lead's `extra`, so there is no `additionalProperties: false` here.
 */
export const NewLead = Type.Object(
  {
    campaignCode: text('Code of the campaign that receives the lead.', 'DEMO', { minLength: 1 }),
    name: text('Name of the lead.', 'Ada Lovelace', { minLength: 1 }),
    phone: text('Phone number of the lead, kept as sent.', '+44 20 7946 0958', { minLength: 1 }),
    ...fieldTexts(newLeadFieldNames),
    email: Type.Optional(
      Type.String({
        format: 'email',
        pattern: '\\.[Ii][Oo]$',
        'x-reason': 'must end in .io',
        description: 'Email address; it must end in `.io`, in any case.',
        examples: ['ada@example.io'],
      }),
    ),
    country: optionalText(
      'Country; a two-letter code (ISO 3166-1) also tells how to read the phone number.',
      'GB',
    ),
  },
  { description: 'A lead for a campaign. Fields beyond these are kept with the lead.' },
);
export type NewLead = Static<typeof NewLead>;

/** The body of the intake's create (specification, 2.3). Unknown fields go to `extra`, as in {@link NewLead}. */
export const IntakeLead = Type.Object(
  {
    name: text('Name of the lead.', 'Grace Hopper', { minLength: 1 }),
    phone: text('Phone number of the lead, kept as sent.', '+1 202 555 0143', { minLength: 1 }),
    s1: Type.Optional(
      text("The caller's sub-id (a tracker's click id), opaque, kept to the letter.", 'click-8f14e45f', {
        maxLength: 255,
      }),
    ),
    lp_name: optionalText('Name of the landing page the lead comes from.', 'spring-offer'),
    address: optionalText('Address of the lead.', '1 Arlington Ridge, Virginia'),
  },
  { description: 'A lead from a landing page. Fields beyond these are kept with the lead.' },
);
export type IntakeLead = Static<typeof IntakeLead>;

const StatusReason = Type.String({
  minLength: 1,
  maxLength: 1000,
  description: 'Why the status changes: required into Trashed and out of Paid.',
  examples: ['Number is not in service'],
});

const LeadSource = Type.Enum(['crm', 'intake'], {
  description: 'Which service took the lead.',
  examples: ['intake'],
});

/** A lead as the CRM shows it (specification, 2.2). What is absent is left out, never `null`. */
export const Lead = Type.Object(
  {
    id: text('Unique identifier of the lead (UUID).', '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'),
    name: text('Name of the lead.', 'Ada Lovelace'),
    phone: text('Phone number, as it was sent.', '+44 20 7946 0958'),
    createdAt: dateTime('When the lead was created.'),
    updatedAt: dateTime('When the lead was last changed.'),
    campaignId: text('Identifier of the campaign.', '019c0a3e-0000-7c4e-9f10-2a6b8c0d1e2f'),
    userId: text('Identifier of the owning user.', '019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f'),
    ip: optionalText('IP address of the visitor, for leads of the intake.', '203.0.113.7'),
    ...fieldTexts(['address', 'state', 'region', 'country']),
    status: Type.Optional(LeadStatus),
  },
  { additionalProperties: false, description: 'A lead.' },
);
export type Lead = Static<typeof Lead>;

/** A lead with everything that is stored of it: the Lead of the specification and what it leaves out. */
export const LeadDetail = Type.Object(
  {
    ...Lead.properties,
    status: LeadStatus,
    version: Type.Integer({
      minimum: 1,
      description: '1 when created, one more with every change; the ETag without its quotes.',
      examples: [1],
    }),
    campaignCode: text('Code of the campaign.', 'DEMO'),
    source: LeadSource,
    phoneE164: optionalText('The phone number in E.164, where it could be read.', '+442079460958'),
    ...fieldTexts(leadFieldNames),
    s1: optionalText("The caller's sub-id, for leads of the intake.", 'click-8f14e45f'),
    lpName: optionalText('Name of the landing page, for leads of the intake.', 'spring-offer'),
    duplicateOf: optionalText(
      'The first lead of the same phone number, for one trashed as its duplicate.',
      '019c0a3e-2222-7c4e-9f10-2a6b8c0d1e2f',
    ),
    extra: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'Fields that the contract does not name.' }),
    ),
  },
  { additionalProperties: false, description: 'A lead with everything that is stored of it.' },
);
export type LeadDetail = Static<typeof LeadDetail>;

/** What an edit may change of a lead. Fields it does not name go to `extra`, as in {@link NewLead}. */
export const LeadPatch = Type.Object(
  {
    name: Type.Optional(NewLead.properties.name),
    phone: Type.Optional(NewLead.properties.phone),
    ...fieldTexts(leadFieldNames, (description) => `${description} An empty text takes it away.`),
    email: Type.Optional(
      Type.Union([NewLead.properties.email, Type.Literal('')], {
        description: 'Email address; it must end in `.io`, in any case. An empty text takes it away.',
        examples: ['ada@example.io'],
      }),
    ),
    status: Type.Optional(LeadStatus),
    reason: Type.Optional(StatusReason),
  },
  { minProperties: 1, description: 'What to change of a lead.' },
);
export type LeadPatch = Static<typeof LeadPatch>;

/** The most leads whose status one request may change. */
const statusChangeLimit = 1000;

/** The body of a change of status for many leads. */
export const StatusChange = Type.Object(
  {
    ids: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: statusChangeLimit,
      uniqueItems: true,
      description: `The leads, ${statusChangeLimit} at most.`,
      examples: [['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f']],
    }),
    status: LeadStatus,
    reason: Type.Optional(StatusReason),
  },
  { additionalProperties: false, description: 'A status for many leads.' },
);
export type StatusChange = Static<typeof StatusChange>;

/** One entry of a lead's history. */
export const LeadHistoryEntry = Type.Object(
  {
    version: Type.Integer({
      minimum: 1,
      description: 'The version of the lead that this change made.',
      examples: [2],
    }),
    type: Type.Enum(['created', 'updated', 'status_changed'], {
      description: 'What was done. A change of fields and status at once is a `status_changed`.',
      examples: ['status_changed'],
    }),
    createdAt: dateTime('When.'),
    userId: text('Who: identifier of the user.', '019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f'),
    from: Type.Optional(LeadStatus),
    to: Type.Optional(LeadStatus),
    reason: optionalText('Why the status was changed.', 'Number is not in service'),
    duplicateOf: optionalText(
      'The first lead of the same phone number, where this one was created as its duplicate.',
      '019c0a3e-2222-7c4e-9f10-2a6b8c0d1e2f',
    ),
    fields: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object({ from: Type.Optional(Type.Unknown()), to: Type.Optional(Type.Unknown()) }),
        {
          description: 'By field, what it was and what it became; absent where there was or is nothing.',
          examples: [{ city: { from: 'Paris', to: 'London' } }],
        },
      ),
    ),
  },
  { additionalProperties: false, description: 'One change of a lead.' },
);
export type LeadHistoryEntry = Static<typeof LeadHistoryEntry>;

const time = (description: string) =>
  Type.Optional(
    Type.String({
      anyOf: [{ format: 'date-time' }, { format: 'date' }],
      description: `${description} A date alone means its first moment in UTC.`,
      examples: ['2026-01-31T09:30:00Z'],
    }),
  );
const term = (description: string, example: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[^\\u0000]*$',
      'x-reason': 'holds characters that cannot be stored',
      description,
      examples: [example],
    }),
  );

/** Which leads are meant. All that is given must hold. */
export const LeadFilterQuery = Type.Object(
  {
    status: Type.Optional(LeadStatus),
    campaignCode: term('Only leads of the campaign of this code.', 'DEMO'),
    createdFrom: time('Only leads created at this time or later.'),
    createdTo: time('Only leads created before this time.'),
    updatedSince: time('Only leads created or changed at this time or later.'),
    phone: term('Only leads of this phone number, however it is spelled.', '+44 20 7946 0958'),
    s1: term('Only leads of this sub-id.', 'click-8f14e45f'),
    lpName: term('Only leads of this landing page.', 'spring-offer'),
    source: Type.Optional(LeadSource),
    q: term(
      'What one would type to find a lead: beginnings of words of its name or email address, the beginning or the end of its phone number, or the beginning of its id (8 digits or more).',
      'ada love',
    ),
    sort: Type.Optional(
      Type.Enum(['-createdAt', 'createdAt', '-updatedAt', 'updatedAt'], {
        description:
          'By which time, and whether the newest come first (`-`). When absent, `-createdAt`, but `-updatedAt` with `updatedSince`.',
        examples: ['-createdAt'],
      }),
    ),
  },
  { additionalProperties: false },
);
export type LeadFilterQuery = Static<typeof LeadFilterQuery>;

/** The query of the CRM's list. Values arrive as text; anything else in the query string is refused. */
export const LeadQuery = Type.Object(
  {
    ...LeadFilterQuery.properties,
    ...pageParameters('Leads'),
    count: Type.Optional(
      Type.Enum(['exact'], {
        description:
          'Answers in `X-Total-Count` how many leads match. It takes time where there are millions.',
        examples: ['exact'],
      }),
    ),
  },
  { additionalProperties: false },
);
export type LeadQuery = Static<typeof LeadQuery>;
