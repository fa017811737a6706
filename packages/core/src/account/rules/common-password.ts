import commonPasswords from '../common-passwords.json' with { type: 'json' };

/** The digits and signs that replace letters in many passwords. */
const letters: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
  '!': 'i',
};
/** A password with fewer different characters is a pattern. */
const minDifferent = 5;

let loaded: ReadonlySet<string> | undefined;

/**
 * Whether a password is among the first guesses of an attacker. Such a password is common, a repetition or a sequence.
 * Or it consists of a common or own word, with digits and signs around the word or in place of letters.
 *
 * @param ownWords the names of the user and of the service.
 */
export function isCommonPassword(password: string, ownWords: readonly string[] = []): boolean {
  loaded ??= new Set(commonPasswords.passwords.split(' '));
  const known = loaded;
  const own = new Set(ownWords.map((word) => word.toLowerCase()));
  const isWord = (text: string) => known.has(text) || own.has(text);

  const whole = password.toLowerCase();
  if (new Set(whole).size < minDifferent || isSequence(whole)) return true;
  const [, repeated = whole] = /^(.+?)\1+$/su.exec(whole) ?? [];
  if (repeated.length < 5) return true;
  const word = repeated.replace(/^[^\p{L}]+/u, '').replace(/[^\p{L}]+$/u, '');
  const plain = Array.from(word, (sign) => letters[sign] ?? sign).join('');
  return [repeated, word, plain].some(isWord);
}

/** Whether each character is the successor of the one before it, or each is its predecessor. */
function isSequence(text: string): boolean {
  const steps = new Set(Array.from(text.slice(1), (sign, at) => sign.charCodeAt(0) - text.charCodeAt(at)));
  return steps.size === 1;
}
