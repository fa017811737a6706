/** The maximum length of a slug. */
export const slugMaxLength = 63;

/** Returns the slug of a text; `undefined` if the text has no Latin letters and no digits. */
export function slugOf(text: string): string | undefined {
  const slug = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, slugMaxLength)
    .replace(/-$/, '');
  return slug === '' ? undefined : slug;
}
