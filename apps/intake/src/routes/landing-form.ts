import { LeadsError } from '@leads/core/errors';
import { IntakeLead } from '@leads/core/lead';
import { Type } from 'typebox';

/**
 * The control fields of a landing page's form. With a browser key they are not stored with the lead. With any other key
 * they are additional fields of the lead.
 */
export interface FormControls {
  readonly redirect?: unknown;
  /** The honeypot. It is hidden from people, so only programs fill it in. No lead has a field of this name. */
  readonly _gotcha?: unknown;
}

/** The documented body of a plain HTML form. It is validated as an {@link IntakeLead}. */
export const LandingForm = Type.Object(
  {
    ...IntakeLead.properties,
    redirect: Type.Optional(
      Type.String({
        description:
          'The target of the redirect (303), with `order_id` added to its query. It must be an absolute URL at one of the origins of the key.',
        examples: ['https://offer.example.com/thanks'],
      }),
    ),
    _gotcha: Type.Optional(
      Type.String({
        description:
          'A honeypot. Hide it from people. If it has text, the answer looks like success, and nothing is stored.',
        examples: [''],
      }),
    ),
  },
  {
    description:
      'A lead from a plain HTML form. `redirect` and `_gotcha` require a key that is bound to web origins. Empty fields count as absent.',
  },
);

/**
 * Returns whether the honeypot is filled in: with text, or with a repeated field that has text. A script that reads a
 * missing input sends `null`, which is not text. A lead of a person must not be lost because of it.
 */
export function isFilledIn(honeypot: unknown): boolean {
  return [honeypot].flat().some((value) => typeof value === 'string' && value !== '');
}

/** Matches an absolute URL without white space, control characters and backslashes. URL parsers treat these differently. */
// oxlint-disable-next-line no-control-regex -- the pattern must match control characters
const absoluteUrl = /^https?:\/\/[^\u0000-\u0020\u007f\\]+$/i;

/**
 * Validates the target of a redirect.
 *
 * @param allowedOrigins origins as browsers send them.
 * @throws LeadsError `invalid_input` if the target is not an absolute URL at one of these origins.
 */
export function redirectTarget(redirect: unknown, allowedOrigins: readonly string[]): URL {
  if (typeof redirect === 'string' && absoluteUrl.test(redirect) && URL.canParse(redirect)) {
    const url = new URL(redirect);
    const hasNoUser = url.username === '' && url.password === '';
    if (hasNoUser && allowedOrigins.includes(url.origin)) return url;
  }
  const reason = 'must be an absolute URL at one of the origins that the API key is bound to';
  throw new LeadsError('invalid_input', {
    message: `redirect ${reason}`,
    fields: [{ at: 'body', path: '/redirect', reason }],
  });
}

/** Adds the id of the lead to the query of a URL. The id contains no personal data. */
export function withOrderId(target: URL, orderId: string): string {
  const url = new URL(target);
  url.search += `${url.search === '' ? '?' : '&'}order_id=${orderId}`;
  return url.href;
}
