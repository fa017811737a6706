/** The longest name that operators know a workspace by. */
export const slugMaxLength = 63;

/** The slug nearest to a text; `undefined` where the text has neither Latin letters nor digits. */
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
