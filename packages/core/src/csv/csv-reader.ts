/** One record of a file. */
export interface CsvRecord {
  /** The byte of the file at which the record starts. */
  readonly offset: number;
  /** The line in which the record starts, counted from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** A record that cannot be read. `fault` completes a sentence that starts with "The line". */
export interface CsvFault {
  readonly offset: number;
  readonly line: number;
  readonly fault: string;
}

type CsvEntry = CsvRecord | CsvFault;

/** A first line that names the separator. Excel reads it, and does not show it. */
const separatorLine = /^sep=[,;\t]$/i;

/** The maximum size of a cell and of a record. The reader keeps no more than one record in memory. */
export const csvBounds = { cellBytes: 64 * 1024, recordBytes: 2 * 1024 * 1024, cells: 1000 } as const;
/** A cell may start with an apostrophe that is not part of its text. */
const plainCellBytes = csvBounds.cellBytes + 1;
/** In a quoted cell, each byte may be a doubled quote. */
const quotedCellBytes = 2 * csvBounds.cellBytes + 1;
const cellTooLarge = 'has a cell of more than 64 KiB';

const [tab, lineFeed, carriageReturn, quote, comma, semicolon] = [9, 10, 13, 34, 44, 59] as const;
const byteOrderMark = [0xef, 0xbb, 0xbf] as const;

/** The position of the next byte within its record. `skipping` means the rest of a line that cannot be read. */
type State = 'cell start' | 'plain' | 'quoted' | 'after quote' | 'skipping';

/**
 * Reads CSV (RFC 4180) in pieces of any size, in bounded memory, in Node.js and in browsers.
 *
 * The separator is the comma, semicolon or tab, whichever is most frequent in the first line. Lines end in CRLF, LF or
 * CR. Empty lines are skipped, and a first line `sep=;`, which names the separator for Excel. A quote inside an unquoted cell is an ordinary character.
 *
 * A record that cannot be read does not affect other records, as far as CSV allows. After a misplaced quote, reading
 * continues in the line after the opening quote. This is why csv-parse is not used: csv-parse reads everything after
 * an open quote, to the end of the file, as one cell. It also replaces invalid UTF-8 silently.
 */
export class CsvReader {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #bytes = new Uint8Array(0);
  #length = 0;
  /** The number of bytes of the file that are no longer in the buffer. */
  #discarded = 0;
  #ended = false;

  #separator: number | undefined;
  /** The progress of the search for separators in the first line, and the number of each separator so far. */
  #firstLine = {
    at: 0,
    begun: false,
    quoted: false,
    counts: new Map<number, number>([comma, semicolon, tab].map((byte) => [byte, 0])),
  };

  #at = 0;
  #line = 1;
  #state: State = 'cell start';
  #recordAt = 0;
  #recordLine = 1;
  #cellAt = 0;
  /** Start and end of each cell of the record, and whether the cell has doubled quotes. */
  #cells: [from: number, to: number, doubled: boolean][] = [];
  #doubled = false;
  /** Start of the line after the one in which the cell started. */
  #nextLine: { at: number; line: number } | undefined;

  /** The separator. It is known after the first record was returned. */
  get separator(): string {
    return String.fromCodePoint(this.#separator ?? comma);
  }

  /** Returns the records that are complete with this piece. */
  *read(piece: Uint8Array): Generator<CsvEntry> {
    this.#append(piece);
    yield* this.#scan();
  }

  /** Returns the records that are complete with the end of the file. */
  *end(): Generator<CsvEntry> {
    this.#ended = true;
    yield* this.#scan();
  }

  #append(piece: Uint8Array): void {
    // Bytes before the current record are no longer needed.
    const done = this.#recordAt;
    const needed = this.#length - done + piece.length;
    if (needed > this.#bytes.length) {
      // The buffer gets twice the needed size. Otherwise, each piece of one byte would copy the whole record.
      const larger = new Uint8Array(needed * 2);
      larger.set(this.#bytes.subarray(done, this.#length));
      this.#bytes = larger;
    } else if (done > 0) {
      this.#bytes.copyWithin(0, done, this.#length);
    }
    this.#length = needed;
    this.#bytes.set(piece, needed - piece.length);
    if (done === 0) return;
    this.#discarded += done;
    this.#at -= done;
    this.#cellAt -= done;
    this.#recordAt = 0;
    this.#firstLine.at -= done;
    if (this.#nextLine !== undefined) this.#nextLine.at -= done;
    this.#cells = this.#cells.map(([from, to, doubled]) => [from - done, to - done, doubled]);
  }

  *#scan(): Generator<CsvEntry> {
    if (this.#separator === undefined && !this.#findSeparator()) return;
    while (this.#at < this.#length) {
      const byte = this.#bytes[this.#at];
      const isBreak = byte === lineFeed || byte === carriageReturn;
      // The line feed of a CRLF may be the first byte of the next piece.
      if (byte === carriageReturn && this.#at + 1 === this.#length && !this.#ended) return;
      switch (this.#state) {
        case 'quoted':
          if (isBreak) {
            this.#passBreak();
            this.#nextLine ??= { at: this.#at, line: this.#line };
          } else if (byte === quote) {
            this.#state = 'after quote';
            this.#at += 1;
          } else {
            this.#passText(quote, this.#cellAt + quotedCellBytes);
          }
          break;
        case 'after quote':
          if (byte === quote) {
            this.#state = 'quoted';
            this.#doubled = true;
            this.#at += 1;
          } else if (byte === this.#separator || isBreak) {
            this.#cells.push([this.#cellAt, this.#at - 1, this.#doubled]);
            if (isBreak) yield* this.#endRecord();
            else this.#beginCell();
          } else {
            yield this.#giveUp('has text between a closing quote and the next separator');
            continue;
          }
          break;
        case 'skipping':
          this.#skipLine();
          continue;
        default:
          if (isBreak || byte === this.#separator) {
            this.#cells.push([this.#cellAt, this.#at, false]);
            if (isBreak) yield* this.#endRecord();
            else this.#beginCell();
          } else if (byte === quote && this.#state === 'cell start') {
            this.#state = 'quoted';
            this.#at += 1;
            this.#cellAt = this.#at;
          } else {
            this.#state = 'plain';
            this.#passText(this.#separator, this.#cellAt + plainCellBytes);
          }
      }
      const excess = this.#excess();
      if (excess !== undefined) yield this.#giveUp(excess);
    }
    if (this.#ended) yield* this.#endFile();
  }

  *#endFile(): Generator<CsvEntry> {
    if (this.#state === 'quoted') {
      yield this.#giveUp('has a quote that is never closed');
      // Reading continues after the line of the quote, if there is such a line.
      if (this.#at < this.#length) yield* this.#scan();
      return;
    }
    if (this.#state === 'skipping' || this.#recordAt === this.#length) return;
    const isQuoted = this.#state === 'after quote';
    this.#cells.push([this.#cellAt, this.#at - (isQuoted ? 1 : 0), isQuoted && this.#doubled]);
    yield* this.#endRecord();
  }

  /** Returns whether enough of the first line was read to know the separator. */
  #findSeparator(): boolean {
    const firstLine = this.#firstLine;
    if (firstLine.at === 0 && this.#discarded === 0) {
      const start = this.#bytes.subarray(0, Math.min(this.#length, byteOrderMark.length));
      if (start.every((byte, i) => byte === byteOrderMark[i])) {
        if (start.length < byteOrderMark.length && !this.#ended) return false;
        if (start.length === byteOrderMark.length) {
          this.#at = byteOrderMark.length;
          this.#recordAt = this.#at;
          this.#cellAt = this.#at;
        }
      }
      firstLine.at = this.#at;
    }
    for (; firstLine.at < this.#length; firstLine.at++) {
      const byte = this.#bytes[firstLine.at] ?? 0;
      const isBreak = byte === lineFeed || byte === carriageReturn;
      if (byte === quote) firstLine.quoted = !firstLine.quoted;
      if (firstLine.quoted || (isBreak && !firstLine.begun)) continue;
      if (isBreak) break;
      firstLine.begun = true;
      const count = firstLine.counts.get(byte);
      if (count !== undefined) firstLine.counts.set(byte, count + 1);
    }
    if (firstLine.at === this.#length && !this.#ended && this.#length < csvBounds.cellBytes) return false;
    const [[separator] = [comma]] = [...firstLine.counts].toSorted(([, a], [, b]) => b - a);
    this.#separator = separator;
    return true;
  }

  #beginCell(): void {
    this.#at += 1;
    this.#cellAt = this.#at;
    this.#state = 'cell start';
    this.#doubled = false;
    this.#nextLine = undefined;
  }

  #beginRecord(): void {
    this.#recordAt = this.#at;
    this.#recordLine = this.#line;
    this.#cells = [];
    this.#cellAt = this.#at;
    this.#state = 'cell start';
    this.#doubled = false;
    this.#nextLine = undefined;
  }

  #passBreak(): void {
    const isPair =
      this.#bytes[this.#at] === carriageReturn &&
      this.#at + 1 < this.#length &&
      this.#bytes[this.#at + 1] === lineFeed;
    this.#at += isPair ? 2 : 1;
    this.#line += 1;
  }

  *#endRecord(): Generator<CsvEntry> {
    const entry = this.#entry();
    if (this.#at < this.#length) this.#passBreak();
    this.#beginRecord();
    if (entry !== undefined) yield entry;
  }

  /** Returns the record that ends here, or nothing for an empty line. */
  #entry(): CsvEntry | undefined {
    if (this.#at === this.#recordAt) return undefined;
    const offset = this.#discarded + this.#recordAt;
    const line = this.#recordLine;
    const bytes = this.#bytes.subarray(this.#recordAt, this.#at);
    let text: string;
    try {
      text = this.#decoder.decode(bytes);
    } catch {
      return { offset, line, fault: 'is not UTF-8' };
    }
    if (line === 1 && separatorLine.test(text)) return undefined;
    if (bytes.includes(0)) return { offset, line, fault: 'contains a NUL character, which cannot be stored' };

    // Decoding an ASCII record once instead of cell by cell nearly halves the time of reading a file.
    const isAscii = text.length === bytes.length;
    const cells: string[] = [];
    for (const [from, to, doubled] of this.#cells) {
      const sent = isAscii
        ? text.slice(from - this.#recordAt, to - this.#recordAt)
        : this.#decoder.decode(this.#bytes.subarray(from, to));
      const cell = doubled ? sent.replaceAll('""', '"') : sent;
      // Each doubled quote takes one byte more than the quote that it represents.
      if (to - from - (sent.length - cell.length) > plainCellBytes)
        return { offset, line, fault: cellTooLarge };
      cells.push(cell);
    }
    return { offset, line, cells };
  }

  /** Moves to the given byte, to the end of the line, or to the limit of the cell. */
  #passText(until: number | undefined, limit: number): void {
    const bytes = this.#bytes;
    const end = Math.min(this.#length, limit + 1);
    let at = this.#at + 1;
    for (; at < end; at++) {
      const byte = bytes[at];
      if (byte === until || byte === lineFeed || byte === carriageReturn) break;
    }
    this.#at = at;
  }

  #excess(): string | undefined {
    const limit = this.#state === 'plain' ? plainCellBytes : quotedCellBytes + 1;
    if (this.#at - this.#cellAt > limit) return cellTooLarge;
    if (this.#at - this.#recordAt > csvBounds.recordBytes) return 'is longer than 2 MiB';
    if (this.#cells.length >= csvBounds.cells) return `has more than ${csvBounds.cells} cells`;
    return undefined;
  }

  /** Abandons the record. Reading continues after the line of an open quote, or else after the current line. */
  #giveUp(fault: string): CsvFault {
    const offset = this.#discarded + this.#recordAt;
    const line = this.#recordLine;
    if (this.#nextLine === undefined) {
      this.#state = 'skipping';
      this.#recordAt = this.#at;
      this.#cells = [];
    } else {
      this.#at = this.#nextLine.at;
      this.#line = this.#nextLine.line;
      this.#beginRecord();
    }
    return { offset, line, fault };
  }

  #skipLine(): void {
    for (; this.#at < this.#length; this.#at++) {
      const byte = this.#bytes[this.#at];
      if (byte !== lineFeed && byte !== carriageReturn) continue;
      if (byte === carriageReturn && this.#at + 1 === this.#length && !this.#ended) break;
      this.#passBreak();
      this.#beginRecord();
      return;
    }
    // The bytes of a skipped line are not kept in memory.
    this.#recordAt = this.#at;
  }
}
