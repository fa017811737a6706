import { LeadsError } from '@leads/core/errors';
import { IntakeLead } from '@leads/core/lead';
import { Type } from 'typebox';

/**
 * What the form of a landing page says beside the lead. With a key that may stand in a page these are no fields of
 * the lead, and are not kept with it; with any other they are fields like all that the contract does not name.
 */
export interface FormControls {
  readonly redirect?: unknown;
  /** The honeypot: hidden from people, so only a program fills it in. Its name is one that no lead has. */
  readonly _gotcha?: unknown;
}

/** The body of a plain HTML form, as it is described; what it holds is validated as an {@link IntakeLead} is. */
export const LandingForm = Type.Object(
  {
    ...IntakeLead.properties,
    redirect: Type.Optional(
      Type.String({
        description:
          'Where the visitor is sent on to with 303, `order_id` added to its query: an absolute URL at one of the origins that the key is bound to.',
        examples: ['https://offer.example.com/thanks'],
      }),
    ),
    _gotcha: Type.Optional(
      Type.String({
        description:
          'A honeypot, to be hidden from people: where it is filled in, the answer is that of success and nothing is stored.',
        examples: [''],
      }),
    ),
  },
  {
    description:
      'A lead from a plain HTML form. `redirect` and `_gotcha` are for keys that are bound to web origins. Empty fields count as absent.',
  },
);

/** Without white space, control characters and backslashes, which parsers drop, or disagree on. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const absoluteUrl = /^https?:\/\/[^\u0000-\u0020\u007f\\]+$/i;

/**
 * Where a visitor may be sent on to.
 *
 * @param allowedOrigins as browsers write them.
 * @throws LeadsError `invalid_input` for what is no absolute URL at one of these origins.
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

/** A URL with the id of the lead in its query, which is left as it is besides: an id says nothing of a person. */
export function withOrderId(target: URL, orderId: string): string {
  const url = new URL(target);
  url.search += `${url.search === '' ? '?' : '&'}order_id=${orderId}`;
  return url.href;
}
