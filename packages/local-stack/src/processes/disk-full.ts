/** Returns whether an error message or a log of the system or of Postgres reports a full disk. */
export function mentionsFullDisk(text: string): boolean {
  return /no space left on device|could not extend file|wrote only \d+ of \d+ bytes/i.test(text);
}
