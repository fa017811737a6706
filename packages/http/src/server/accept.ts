import Negotiator from 'negotiator';

/**
 * Returns the media type that a client prefers (RFC 9110, 12.5.1). Among types of equal weight, the one that the client
 * names first wins. Without a preference, or if the client accepts no offer, returns the first offer.
 *
 * @param accept the `Accept` header. Several headers are joined by commas.
 * @param offers media types with their parameters, in lower case. All are in UTF-8.
 */
export function preferredType<Offer extends string>(
  accept: string | undefined,
  offers: readonly [Offer, ...Offer[]],
): Offer {
  // The fast path: most requests have one of these headers.
  if (accept === undefined || accept === '*/*' || accept === offers[0]) return offers[0];
  // A client may request UTF-8 explicitly.
  const inUtf8 = offers.map((offer) => (offer.includes('charset=') ? offer : `${offer}; charset=utf-8`));
  const wanted = new Negotiator({ headers: { accept } }).mediaType(inUtf8);
  return offers[inUtf8.indexOf(wanted ?? '')] ?? offers[0];
}

/** Returns whether a client accepts a response compressed with gzip (RFC 9110, 12.5.3). @param header `Accept-Encoding`. */
export function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false;
  return new Negotiator({ headers: { 'accept-encoding': header } }).encoding(['gzip', 'identity']) === 'gzip';
}
