import { type Static, Type } from 'typebox';
import { anyCaseUuid, dateTime, id, term } from '../fields.ts';
import { pageParameters } from '../paging.ts';
import { LeadPayout, Payout } from '../payout/payout.schema.ts';
import { type LeadFieldName, leadFieldNames, leadFields, newLeadFieldNames } from './lead-fields.ts';
import { LeadStatus, StatusReason } from './lead-status.ts';
import { leadStatuses } from './lead-transitions.ts';
import { optionalSortFields, sorts } from './sort-fields.ts';
import { StatusName } from './status-alias.schema.ts';

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
 * The body of the CRM's create request (specification, 2.1). Unknown fields are allowed and stored in the lead's
 * `extra`, so the schema has no `additionalProperties: false`.
 */
export const NewLead = Type.Object(
  {
    campaignCode: text('Code of the campaign that receives the lead.', 'DEMO', { minLength: 1 }),
    name: text('Name of the lead.', 'Ada Lovelace', { minLength: 1 }),
    phone: text('Phone number of the lead, stored as sent.', '+44 20 7946 0958', { minLength: 1 }),
    ...fieldTexts(newLeadFieldNames),
    email: Type.Optional(
      Type.String({
        format: 'email',
        pattern: '\\.[Ii][Oo]$',
        'x-reason': 'must end in .io',
        description: 'Email address. It must end in `.io`, in upper or lower case.',
        examples: ['ada@example.io'],
      }),
    ),
    country: optionalText(
      'Country. A two-letter code (ISO 3166-1) also sets the country of a phone number without a country code.',
      'GB',
    ),
  },
  { description: 'A lead for a campaign. Unknown fields are stored with the lead.' },
);
export type NewLead = Static<typeof NewLead>;

/** The body of the intake's create request (specification, 2.3). Unknown fields go to `extra`, as in `NewLead`. */
export const IntakeLead = Type.Object(
  {
    name: text('Name of the lead.', 'Grace Hopper', { minLength: 1 }),
    phone: text('Phone number of the lead, stored as sent.', '+1 202 555 0143', { minLength: 1 }),
    s1: Type.Optional(
      text(
        "The caller's sub-id, such as a tracker's click id. The value is opaque and stored exactly as sent.",
        'click-8f14e45f',
        {
          maxLength: 255,
        },
      ),
    ),
    lp_name: optionalText('Name of the landing page that sends the lead.', 'spring-offer'),
    address: optionalText('Address of the lead.', '1 Arlington Ridge, Virginia'),
  },
  { description: 'A lead from a landing page. Unknown fields are stored with the lead.' },
);
export type IntakeLead = Static<typeof IntakeLead>;

const LeadSource = Type.Enum(['crm', 'intake'], {
  description: 'Service that received the lead.',
  examples: ['intake'],
});

/** A lead as the CRM returns it (specification, 2.2). An absent field is omitted, never `null`. */
export const Lead = Type.Object(
  {
    id: text('Unique identifier of the lead (UUID).', '019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'),
    name: text('Name of the lead.', 'Ada Lovelace'),
    phone: text('Phone number, as sent.', '+44 20 7946 0958'),
    createdAt: dateTime('Time at which the lead was created.'),
    updatedAt: dateTime(
      'Time of the last change of the lead. A lead that waited during an outage counts as changed when it is stored.',
    ),
    campaignId: text('Identifier of the campaign.', '019c0a3e-0000-7c4e-9f10-2a6b8c0d1e2f'),
    userId: text('Identifier of the owning user.', '019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f'),
    ip: optionalText('IP address of the visitor, for leads from the intake.', '203.0.113.7'),
    ...fieldTexts(['address', 'state', 'region', 'country']),
    status: Type.Optional(LeadStatus),
  },
  { additionalProperties: false, description: 'A lead.' },
);
export type Lead = Static<typeof Lead>;

/** A lead with all stored fields: the Lead of the specification and the fields that it omits. */
export const LeadDetail = Type.Object(
  {
    ...Lead.properties,
    status: LeadStatus,
    version: Type.Integer({
      minimum: 1,
      description:
        '1 for a new lead, increased by 1 with each change. It equals the ETag without its quotes.',
      examples: [1],
    }),
    campaignCode: text('Code of the campaign.', 'DEMO'),
    source: LeadSource,
    phoneE164: optionalText('Phone number in E.164, if the number could be parsed.', '+442079460958'),
    ...fieldTexts(leadFieldNames),
    s1: optionalText("The caller's sub-id, for leads from the intake.", 'click-8f14e45f'),
    lpName: optionalText('Name of the landing page, for leads from the intake.', 'spring-offer'),
    duplicateOf: optionalText(
      'Identifier of the first lead with the same phone number, if this lead was trashed as its duplicate.',
      '019c0a3e-2222-7c4e-9f10-2a6b8c0d1e2f',
    ),
    extra: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, description: 'Fields of the request that are not in its schema.' },
      ),
    ),
    approveAt: Type.Optional(
      dateTime(
        'Time at which the lead becomes Approved, by the hold time of its campaign. Absent without a hold time, after a status change, while the lead is held, and in events.',
      ),
    ),
    payout: Type.Optional(
      Type.Object(LeadPayout.properties, {
        additionalProperties: false,
        description:
          'The amount of the lead for its publisher: expected while the lead is OnHold, payable while it is Approved, and paid once it is Paid. It is fixed when the lead becomes Approved. Absent for a trashed lead, and without a payout.',
      }),
    ),
    assigneeId: optionalText(
      'Identifier of the owner or manager who works on the lead. Publishers do not see it.',
      '019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f',
    ),
    callbackAt: Type.Optional(
      dateTime('Time at which the lead is to be called back. Publishers do not see it.'),
    ),
    holdReason: optionalText(
      'Reason for which an owner or manager holds the lead. A held lead does not become Approved by the hold time of its campaign. Publishers do not see it.',
      'Waiting for the proof of address',
    ),
  },
  { additionalProperties: false, description: 'A lead with all stored fields.' },
);
export type LeadDetail = Static<typeof LeadDetail>;

/** The fields of a lead in the order of its schema. */
export const detailFields = Object.keys(LeadDetail.properties) as readonly (keyof LeadDetail)[];

/** The fields of a lead that publishers do not see. They are the last of {@link detailFields}. */
export const internalFields = ['assigneeId', 'callbackAt', 'holdReason'] as const;

export const Assignee = Type.String({
  pattern: `^(${anyCaseUuid})?$`,
  'x-reason': 'must be the id of a user, or empty',
  description:
    'Identifier of an owner or manager of the workspace, who works on the lead. An empty text removes the assignee. Only owners and managers can set it.',
  examples: ['019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f'],
});
const Callback = Type.Union([Type.String({ format: 'date-time' }), Type.Literal('')], {
  description:
    'Time at which the lead is to be called back. An empty text removes it. Only owners and managers can set it.',
  examples: ['2026-01-31T09:30:00.000Z'],
});

/** The fields of a lead that an edit can change. Unknown fields go to `extra`, as in {@link NewLead}. */
export const LeadPatch = Type.Object(
  {
    name: Type.Optional(NewLead.properties.name),
    phone: Type.Optional(NewLead.properties.phone),
    ...fieldTexts(leadFieldNames, (description) => `${description} An empty text removes the value.`),
    email: Type.Optional(
      Type.Union([NewLead.properties.email, Type.Literal('')], {
        description:
          'Email address. It must end in `.io`, in upper or lower case. An empty text removes the value.',
        examples: ['ada@example.io'],
      }),
    ),
    status: Type.Optional(StatusName),
    reason: Type.Optional(StatusReason),
    assigneeId: Type.Optional(Assignee),
    callbackAt: Type.Optional(Callback),
    hold: Type.Optional(
      Type.Boolean({
        description:
          'Whether the lead is held, so that it does not become Approved by the hold time of its campaign. `true` requires a `reason`, which is shown as `holdReason`. Only an OnHold lead can be held. `false` releases the lead, which then becomes Approved when it is due. Only owners and managers can set it. `true` is not possible in one request with a `status` or a `payout`.',
        examples: [false],
      }),
    ),
    payout: Type.Optional(
      Type.Union([Payout, Type.Null()], {
        description:
          'The payout of this lead, in place of those of its publisher and its campaign. `null` removes it. It requires a `reason`. Only owners and managers can set it, and only while the lead is OnHold or Approved.',
        examples: [{ amount: '12.5', currency: 'EUR' }],
      }),
    ),
  },
  { minProperties: 1, description: 'The changes of a lead.' },
);
export type LeadPatch = Static<typeof LeadPatch>;

/** The maximum number of leads that one request can change or export. */
export const idLimit = 1000;

const listedIds = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: idLimit,
  uniqueItems: true,
  description: `Identifiers of the leads, at most ${idLimit}.`,
  examples: [['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f']],
});

/** The body of a request that changes the status of several leads. */
export const StatusChange = Type.Object(
  {
    ids: listedIds,
    status: StatusName,
    from: Type.Optional({
      ...LeadStatus,
      description:
        'The status in which the caller has read the leads. A lead that has another status by now is not changed, and its result is `conflict`.',
    }),
    reason: Type.Optional(StatusReason),
  },
  { additionalProperties: false, description: 'A status change of several leads.' },
);
export type StatusChange = Static<typeof StatusChange>;

/** The body of a request that sets the assignee or the call-back of several leads. */
export const LeadAssignment = Type.Object(
  { ids: listedIds, assigneeId: Type.Optional(Assignee), callbackAt: Type.Optional(Callback) },
  {
    additionalProperties: false,
    minProperties: 2,
    description: 'The new assignee and the new call-back of several leads. Absent fields stay as they are.',
  },
);
export type LeadAssignment = Static<typeof LeadAssignment>;

/** The body of a request that undoes an assignment. */
export const AssignmentUndo = Type.Object(
  { changeId: id('The `changeId` in the response to the assignment.') },
  { additionalProperties: false, description: 'An assignment to undo.' },
);
export type AssignmentUndo = Static<typeof AssignmentUndo>;

/** One entry of a lead's history. */
export const LeadHistoryEntry = Type.Object(
  {
    version: Type.Integer({
      minimum: 1,
      description: 'Version of the lead after this change.',
      examples: [2],
    }),
    type: Type.Enum(['created', 'updated', 'status_changed', 'note_added'], {
      description: 'Type of the change. A change of both fields and status is a `status_changed`.',
      examples: ['status_changed'],
    }),
    createdAt: dateTime('Time of the change.'),
    userId: optionalText(
      'Identifier of the user who made the change. Absent if the service approved the lead at the end of its hold time.',
      '019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f',
    ),
    from: Type.Optional(LeadStatus),
    to: Type.Optional(LeadStatus),
    reason: optionalText(
      'Reason for the status change; `hold_ended` if the service approved the lead at the end of its hold time; `assignee_removed` if the service removed an assignee who left the workspace.',
      'Number is not in service',
    ),
    noteId: optionalText('Identifier of the added note.', '019c0a3e-5555-7c4e-9f10-2a6b8c0d1e2f'),
    duplicateOf: optionalText(
      'Identifier of the first lead with the same phone number, if this lead was created as its duplicate.',
      '019c0a3e-2222-7c4e-9f10-2a6b8c0d1e2f',
    ),
    fields: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object({ from: Type.Optional(Type.Unknown()), to: Type.Optional(Type.Unknown()) }),
        {
          description:
            'The old value (`from`) and the new value (`to`) of each changed field. An absent value means that the field was or is empty.',
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
      'x-reason': 'must be a date such as 2026-01-31, or a time such as 2026-01-31T09:30:00Z',
      description: `${description} A date without a time means 00:00 UTC of that day.`,
      examples: ['2026-01-31T09:30:00Z'],
    }),
  );

/** One status, or several in one parameter. An array would be another type for one status. */
const StatusList = Type.String({
  pattern: `^(${leadStatuses.join('|')})(,(${leadStatuses.join('|')}))*$`,
  maxLength: 255,
  'x-reason': `must be one or more of ${leadStatuses.join(', ')}, separated by commas`,
  description: `Only leads of this status, or of one of these statuses, separated by commas: ${leadStatuses.join(', ')}.`,
  examples: ['OnHold', 'OnHold,Approved'],
});

/** A filter of leads. A lead must match every given condition. */
export const LeadFilterQuery = Type.Object(
  {
    status: Type.Optional(StatusList),
    user: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'Only leads of this user, such as a publisher. A publisher sees only its own leads.',
        examples: ['019c0a3e-1111-7c4e-9f10-2a6b8c0d1e2f'],
      }),
    ),
    campaignCode: term('Only leads of the campaign with this code.', 'DEMO'),
    payment: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'Only leads of the payment with this id, whatever the payment did with them.',
        examples: ['019c0a3e-3333-7c4e-9f10-2a6b8c0d1e2f'],
      }),
    ),
    createdFrom: time('Only leads created at this time or later.'),
    createdTo: time('Only leads created before this time.'),
    updatedSince: time(
      'Only leads created or changed at this time or later. To read the changes regularly, send the latest `updatedAt` of the leads before, minus a minute: a lead can become visible some seconds after its `updatedAt`.',
    ),
    phone: term('Only leads with this phone number, in any spelling.', '+44 20 7946 0958'),
    s1: term('Only leads with this sub-id.', 'click-8f14e45f'),
    lpName: term('Only leads from this landing page.', 'spring-offer'),
    country: term('Only leads with this country. The first 64 characters are compared.', 'GB'),
    source: Type.Optional(LeadSource),
    assignee: Type.Optional(
      Type.String({
        pattern: `^(me|none|${anyCaseUuid})$`,
        'x-reason': 'must be the id of a user, `me` or `none`',
        description:
          'Only leads of this assignee: the id of a user, `me` for the caller, or `none` for leads without an assignee. Not for publishers.',
        examples: ['me'],
      }),
    ),
    callbackDue: Type.Optional(
      Type.Enum(['true'], {
        description: 'Only leads whose time to call back has come. Not for publishers.',
        examples: ['true'],
      }),
    ),
    q: term(
      'Search text. It matches the beginnings of words in the name or email address. It also matches the beginning or the end of the phone number, the beginning of the id (at least 8 digits), and the whole sub-id. At least 3 characters also match the beginning of a campaign code or of a word in a campaign name, for up to 50 campaigns.',
      'ada love',
    ),
    has: Type.Optional(
      Type.Enum([...optionalSortFields], {
        description:
          'Only leads that have a value in this field. Publishers cannot use `assignee` and `callbackAt`.',
        examples: ['country'],
      }),
    ),
    sort: Type.Optional(
      Type.Enum([...sorts], {
        description:
          'Sort order, with `-` for descending, such as newest first. Leads of the same value are sorted by creation: oldest first, but newest first with `s1` and `lpName`; with `-`, the other way around. Statuses have the order OnHold, Trashed, Paid, Approved. `campaign`, `user` and `assignee` have the order of the ids, which puts the leads of each together. `country`, `s1`, `lpName`, `assignee` and `callbackAt` need a filter that selects leads with a value: `has`, the filter of the same name, or `callbackDue`. Publishers cannot use `assignee` and `callbackAt`. The default is `-createdAt`, or `-updatedAt` if `updatedSince` is given.',
        examples: ['-createdAt'],
      }),
    ),
  },
  { additionalProperties: false },
);
export type LeadFilterQuery = Static<typeof LeadFilterQuery>;

/** The body of a request that exports some leads. */
export const LeadExport = Type.Object(
  { ids: listedIds, has: LeadFilterQuery.properties.has, sort: LeadFilterQuery.properties.sort },
  {
    additionalProperties: false,
    description: 'The leads to export. Leads that do not exist, or that the caller cannot see, are left out.',
  },
);
export type LeadExport = Static<typeof LeadExport>;

/** The query of the CRM's list. Values arrive as text. Unknown parameters are rejected. */
export const LeadQuery = Type.Object(
  {
    ...LeadFilterQuery.properties,
    ...pageParameters('Leads'),
    count: Type.Optional(
      Type.Enum(['exact'], {
        description:
          'Returns the number of matching leads in `X-Total-Count`. Counting millions of leads is slow.',
        examples: ['exact'],
      }),
    ),
  },
  { additionalProperties: false },
);
export type LeadQuery = Static<typeof LeadQuery>;
