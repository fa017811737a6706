/**
 * Returns the key of a keyboard event. A letter is the small Latin one, so that shortcuts work with Caps Lock. On a keyboard
 * with other letters, such as Cyrillic ones, it is the Latin letter at the same place.
 */
export function shortcutKeyOf({ key, code, shiftKey }: Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey'>) {
  if (shiftKey || key.length > 1) return key;
  return (key > 'z' && code.startsWith('Key') ? code.slice(3) : key).toLowerCase();
}
