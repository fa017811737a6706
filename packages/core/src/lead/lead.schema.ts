import { type Static, Type } from 'typebox';
import { LeadStatus } from './lead-status.ts';

const text = (
  description: string,
  example: string,
  options: { minLength?: number; maxLength?: number } = {},
) => Type.String({ description, examples: [example], ...options });

const optionalText = (description: string, example: string) => Type.Optional(text(description, example));

/**
 * The body of the CRM's create (specification, 2.1). Fields it does not name are allowed and kept in the
 * lead's `extra`, so there is no `additionalProperties: false` here.
 */
export const NewLead = Type.Object(
  {
    campaignCode: text('Code of the campaign that receives the lead.', 'DEMO', { minLength: 1 }),
    name: text('Name of the lead.', 'Ada Lovelace', { minLength: 1 }),
    phone: text('Phone number of the lead, kept as sent.', '+44 20 7946 0958', { minLength: 1 }),
    address: optionalText('Address of the lead.', '12 St James Square, London'),
    email: Type.Optional(
      Type.String({
        format: 'email',
        pattern: '\\.[Ii][Oo]$',
        description: 'Email address; it must end in `.io`, in any case.',
        examples: ['ada@example.io'],
      }),
    ),
    country: optionalText(
      'Country; a two-letter code (ISO 3166-1) also tells how to read the phone number.',
      'GB',
    ),
    region: optionalText('Region.', 'Greater London'),
    city: optionalText('City.', 'London'),
    street: optionalText('Street.', 'St James Square'),
    zipcode: optionalText('Postal code.', 'SW1Y 4JH'),
    website: optionalText('Website.', 'https://example.io'),
    description: optionalText('Free text about the lead.', 'Asked for a call back in the morning.'),
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

const dateTime = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-01-31T09:30:00.000Z'] });

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
    address: optionalText('Address of the lead.', '12 St James Square, London'),
    state: optionalText('State associated with the lead.', 'Virginia'),
    region: optionalText('Region.', 'Greater London'),
    country: optionalText('Country.', 'GB'),
    status: Type.Optional(LeadStatus),
  },
  { additionalProperties: false, description: 'A lead.' },
);
export type Lead = Static<typeof Lead>;

/** The most leads one page of the list holds, and how many it holds when the caller does not say. */
export const pageLimit = { maximum: 1000, default: 100 } as const;

/** The query of the CRM's list. Values arrive as text; anything else in the query string is refused. */
export const LeadQuery = Type.Object(
  {
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]{0,2}|1000)$',
        description: `Leads a page: 1 to ${pageLimit.maximum}, ${pageLimit.default} when absent.`,
        examples: ['100'],
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 512,
        description: 'Where the page starts: taken from the `Link` header of the page before, never made up.',
      }),
    ),
  },
  { additionalProperties: false },
);
export type LeadQuery = Static<typeof LeadQuery>;
