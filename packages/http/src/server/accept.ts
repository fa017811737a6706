import Negotiator from 'negotiator';

/**
 * Which of several media types a client wants most (RFC 9110, 12.5.1): of those that it weighs alike the one that
 * it names first, and the first of all where it wants none more than that one, or none at all.
 *
 * @param accept the Accept header; several are joined by commas.
 * @param offers media types with their parameters, in lower case; all are in UTF-8.
 */
export function preferredType<Offer extends string>(
  accept: string | undefined,
  offers: readonly [Offer, ...Offer[]],
): Offer {
  // Most requests.
  if (accept === undefined || accept === '*/*' || accept === offers[0]) return offers[0];
  // A client may say that it wants UTF-8.
  const inUtf8 = offers.map((offer) => (offer.includes('charset=') ? offer : `${offer}; charset=utf-8`));
  const wanted = new Negotiator({ headers: { accept } }).mediaType(inUtf8);
  return offers[inUtf8.indexOf(wanted ?? '')] ?? offers[0];
}
