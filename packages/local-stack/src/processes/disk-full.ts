/** Whether an error's or a log's text says that the disk is full, in the words of the system or of Postgres. */
export function saysDiskFull(text: string): boolean {
  return /no space left on device|could not extend file|wrote only \d+ of \d+ bytes/i.test(text);
}
