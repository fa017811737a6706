/** The age of a session up to which sensitive actions need no further proof, in milliseconds. */
const maxAgeMs = 10 * 60 * 1000;

/** Whether a session is new enough for a sensitive action, such as the creation of an API key. */
export function isRecentSignIn(signedInAt: Date): boolean {
  return Date.now() - new Date(signedInAt).getTime() <= maxAgeMs;
}
