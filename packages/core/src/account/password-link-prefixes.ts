/** The prefix that the account library gives to the identifier of a password link. */
export const libraryLinkPrefix = 'reset-password:';
/**
 * The prefix of a stored identifier. It differs from {@link libraryLinkPrefix}, because the library also looks up the
 * identifier that a client sends, and a stored hash must not work as a link.
 */
export const storedLinkPrefix = 'password-link:';
/** The prefixes of stored password links. The previous release stores them under the prefix of the library. */
export const passwordLinkPrefixes = [storedLinkPrefix, libraryLinkPrefix] as const;
