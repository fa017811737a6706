import { Type } from 'typebox';

/* Schemas of fields that many representations share. */

export const id = (description: string) =>
  Type.String({ description, examples: ['019c0a3e-5d2b-7c4e-9f10-2a6b8c0d1e2f'] });

export const dateTime = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-01-31T09:30:00.000Z'] });

/** A schema's rule for a text that Postgres can store: it has no NUL. The parsers of bodies in JSON reject a NUL themselves. */
export const storable = {
  pattern: '^[^\\u0000]*$',
  'x-reason': 'contains characters that cannot be stored',
} as const;

/** Returns the schema of a query parameter that is compared with stored text. Unlike a body, a query can contain a NUL. */
export const term = (description: string, example: string) =>
  Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      ...storable,
      description,
      examples: [example],
    }),
  );

/** Returns the schema of a display text: 1 to 255 characters, not all blank, without control characters. */
export const label = (description: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^(?!\\s*$)\\P{Cc}+$',
    'x-reason': 'must not be blank and must not hold control characters',
    description,
    examples: [example],
  });

/** Matches a web address as mail programs recognize it, with or without a scheme. */
const webAddressPattern = '://|[Ww]{3}\\.|[\\p{L}\\p{N}-][.。．｡]\\p{L}{2,}';
export const webAddress = new RegExp(webAddressPattern, 'u');

/**
 * Returns the schema of the name of a person or a workspace: a {@link label} without a web address. Mails and pages show
 * the name to strangers.
 */
export const properName = (description: string, example: string) =>
  Type.String({
    maxLength: 255,
    pattern: `^(?!\\s*$)(?!.*(?:${webAddressPattern}))\\P{Cc}+$`,
    'x-reason': 'must not be blank, and must not hold control characters or a web address',
    description,
    examples: [example],
  });

const uuid = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** The pattern of a UUID in lower or upper case. */
export const anyCaseUuid = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

/** Returns the pattern of 1 to `max` UUIDs in lower case, separated by commas. */
export function uuidListPattern(max: number): string {
  return `^${uuid}(,${uuid}){0,${max - 1}}$`;
}
