import { Type } from 'typebox';

/** The maximum and the default number of entries on one page of a list. */
export const pageLimit = { maximum: 1000, default: 100 } as const;

/** The maximum length of a cursor. One of a lead list can contain a text of 255 characters, each of up to 6 bytes of JSON. */
const maxCursorLength = 2560;

/**
 * Returns the query parameters of a paged list. Values arrive as text.
 *
 * @param entries the plural of the entries, as the first word of a sentence: `Leads`.
 */
export const pageParameters = (entries: string) => ({
  limit: Type.Optional(
    Type.String({
      pattern: '^([1-9][0-9]{0,2}|1000)$',
      'x-integer': { minimum: 1, maximum: pageLimit.maximum },
      'x-reason': `must be a whole number from 1 to ${pageLimit.maximum}`,
      description: `${entries} a page, from 1 to ${pageLimit.maximum}. The default is ${pageLimit.default}.`,
      examples: ['100'],
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: maxCursorLength,
      description: 'The start of the page, from the `Link` header of the previous page. It is opaque.',
    }),
  ),
});
