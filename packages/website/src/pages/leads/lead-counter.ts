const lineFeed = 0x0a;
const quote = 0x22;

/**
 * Returns a function that counts the leads of an exported file. It takes the next bytes of the file and returns the number
 * of complete leads so far. In CSV, a quoted value can contain line breaks, and the first record is the header.
 */
export function leadCounter(format: 'csv' | 'ndjson'): (bytes: Uint8Array) => number {
  let records = 0;
  let isQuoted = false;
  return (bytes) => {
    for (const byte of bytes) {
      if (byte === quote && format === 'csv') isQuoted = !isQuoted;
      else if (byte === lineFeed && !isQuoted) records++;
    }
    return format === 'csv' ? Math.max(0, records - 1) : records;
  };
}
