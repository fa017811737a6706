/*
 * The optional text fields of a lead. This file has no imports, so that browsers can use it, too. A field that is added
 * here is part of creating, editing and showing a lead, of imports, exports and events. The field also needs a column
 * of the same name in snake case in the database, and a label in the website.
 */

interface LeadField {
  readonly description: string;
  readonly example: string;
  /** Other names of the field in files to import, as {@link foldName} writes them. */
  readonly aliases: readonly string[];
}

/** The fields, in the order of the OpenAPI documents. */
export const leadFields = {
  address: {
    description: 'Address of the lead.',
    example: '12 St James Square, London',
    aliases: ['fulladdress'],
  },
  email: { description: 'Email address.', example: 'ada@example.io', aliases: ['emailaddress', 'mail'] },
  country: { description: 'Country.', example: 'GB', aliases: ['countrycode'] },
  region: { description: 'Region.', example: 'Greater London', aliases: ['province'] },
  city: { description: 'City.', example: 'London', aliases: ['town'] },
  street: { description: 'Street.', example: 'St James Square', aliases: ['streetaddress'] },
  zipcode: { description: 'Postal code.', example: 'SW1Y 4JH', aliases: ['zip', 'postalcode', 'postcode'] },
  state: { description: 'State associated with the lead.', example: 'Virginia', aliases: [] },
  website: { description: 'Website.', example: 'https://example.io', aliases: ['url', 'site'] },
  description: {
    description: 'Free text about the lead.',
    example: 'Asked for a call back in the morning.',
    aliases: ['comment', 'comments', 'note', 'notes', 'message'],
  },
} as const satisfies Record<string, LeadField>;

export type LeadFieldName = keyof typeof leadFields;

/** The fields of a create request and of an import: all fields except `state` (specification, 2.1). */
export type NewLeadFieldName = Exclude<LeadFieldName, 'state'>;

export const leadFieldNames = Object.keys(leadFields) as readonly LeadFieldName[];
export const newLeadFieldNames = leadFieldNames.filter((name): name is NewLeadFieldName => name !== 'state');

/** Fields that the service sets. An export has columns for these fields, and an import skips the columns. */
export const serviceFieldNames = [
  'id',
  'createdAt',
  'updatedAt',
  'campaignId',
  'userId',
  'ip',
  'status',
  'version',
  'source',
  'phoneE164',
  'duplicateOf',
  'approveAt',
  'payoutAmount',
  'payoutCurrency',
  'payoutRule',
  'assigneeId',
  'callbackAt',
  'holdReason',
] as const;

/** Returns a name without differences of spelling: `Campaign Code`, `campaign_code` and `campaign-code` are equal. */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll(/[\s_-]+/g, '');
}
