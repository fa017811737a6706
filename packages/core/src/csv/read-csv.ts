import { CsvReader } from './csv-reader.ts';

/** The size in bytes above which a piece of the file is read in parts. */
const pieceBytes = 64 * 1024;

/** Yields the records of a CSV file as it arrives. The first is the header. @param file pieces of any size. */
export async function* readCsv(file: AsyncIterable<Uint8Array>) {
  const reader = new CsvReader();
  for await (const piece of file) {
    for (let at = 0; at < piece.length; at += pieceBytes) {
      yield* reader.read(piece.subarray(at, at + pieceBytes));
    }
  }
  yield* reader.end();
}
