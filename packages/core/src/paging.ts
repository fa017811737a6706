import { Type } from 'typebox';

/** The most entries that one page of a list holds, and how many it holds when the caller does not say. */
export const pageLimit = { maximum: 1000, default: 100 } as const;

/**
 * The parameters of a list that comes page by page. Values arrive as text.
 *
 * @param entries what is listed, to begin a sentence with: `Leads`.
 */
export const pageParameters = (entries: string) => ({
  limit: Type.Optional(
    Type.String({
      pattern: '^([1-9][0-9]{0,2}|1000)$',
      'x-reason': `must be a whole number from 1 to ${pageLimit.maximum}`,
      description: `${entries} a page: 1 to ${pageLimit.maximum}, ${pageLimit.default} when absent.`,
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
});
