import { isUtf8 } from 'node:buffer';

/** One record of a file, and the line that it starts in, counted from 1. */
export interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/** A record that cannot be read. `fault` goes on from "the line". */
export interface CsvFault {
  readonly line: number;
  readonly fault: string;
}

/** The most a cell and a record may have in bytes, and a record in cells. A record is kept in memory, no more. */
export const csvBounds = { cellBytes: 64 * 1024, recordBytes: 2 * 1024 * 1024, cells: 1000 } as const;
/** An apostrophe may stand before the text. Within quotes, each byte may be a quote that is doubled. */
const plainBytes = csvBounds.cellBytes + 1;
const quotedBytes = 2 * csvBounds.cellBytes + 1;
const tooLarge = 'has a cell of more than 64 KiB';

const [tab, lineFeed, carriageReturn, quote, comma, semicolon] = [9, 10, 13, 34, 44, 59] as const;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Where in a record the next byte stands. */
type Place = 'cell start' | 'plain' | 'quoted' | 'after quote' | 'lost';

/**
 * Reads CSV (RFC 4180) in pieces of any size, in bounded memory. The separator is what the first line has most of:
 * comma, semicolon or tab. Lines end in CRLF, LF or CR; lines of nothing are passed over; a quote within a cell that
 * does not begin with one stands for itself.
 *
 * A record that cannot be read costs no other, as far as CSV allows: where a quote is at fault, reading goes on in
 * the line after the one in which it was opened. csv-parse takes what follows an open quote, to the end of the file,
 * for one cell, and reads invalid UTF-8 as if it were text.
 */
export class CsvReader {
  #bytes = Buffer.alloc(0);
  #length = 0;
  #ended = false;

  #separator: number | undefined;
  /** How far the first line was looked at for its separator, and what was found there. */
  #looked = {
    at: 0,
    begun: false,
    quoted: false,
    counts: new Map<number, number>([comma, semicolon, tab].map((byte) => [byte, 0])),
  };

  #at = 0;
  #line = 1;
  #place: Place = 'cell start';
  #recordAt = 0;
  #recordLine = 1;
  #cellAt = 0;
  /** Begin and end of each cell of the record, and whether it holds quotes that are doubled. */
  #cells: [from: number, to: number, doubled: boolean][] = [];
  #doubled = false;
  /** Where the first line after the one starts in which the cell was begun. */
  #nextLine: { at: number; line: number } | undefined;

  /** The records that are complete with this piece. */
  *read(piece: Uint8Array): Generator<CsvRecord | CsvFault> {
    this.#append(piece);
    yield* this.#scan();
  }

  /** The records that are complete with the end of the file. */
  *end(): Generator<CsvRecord | CsvFault> {
    this.#ended = true;
    yield* this.#scan();
  }

  #append(piece: Uint8Array): void {
    // What lies before the record is done with.
    const done = this.#recordAt;
    const needed = this.#length - done + piece.length;
    if (needed > this.#bytes.length) {
      // Twice what is needed: pieces of one byte must not copy the record each time.
      const larger = Buffer.allocUnsafe(needed * 2);
      this.#bytes.copy(larger, 0, done, this.#length);
      this.#bytes = larger;
    } else if (done > 0) {
      this.#bytes.copyWithin(0, done, this.#length);
    }
    this.#length = needed;
    this.#bytes.set(piece, needed - piece.length);
    if (done === 0) return;
    this.#at -= done;
    this.#cellAt -= done;
    this.#recordAt = 0;
    if (this.#nextLine !== undefined) this.#nextLine.at -= done;
    this.#cells = this.#cells.map(([from, to, doubled]) => [from - done, to - done, doubled]);
  }

  *#scan(): Generator<CsvRecord | CsvFault> {
    if (this.#separator === undefined && !this.#findSeparator()) return;
    while (this.#at < this.#length) {
      const byte = this.#bytes[this.#at];
      const isBreak = byte === lineFeed || byte === carriageReturn;
      // Whether a line feed belongs to it is not known yet.
      if (byte === carriageReturn && this.#at + 1 === this.#length && !this.#ended) return;
      switch (this.#place) {
        case 'quoted':
          if (isBreak) {
            this.#passBreak();
            this.#nextLine ??= { at: this.#at, line: this.#line };
          } else if (byte === quote) {
            this.#place = 'after quote';
            this.#at += 1;
          } else {
            this.#pass(quote, this.#cellAt + quotedBytes);
          }
          break;
        case 'after quote':
          if (byte === quote) {
            this.#place = 'quoted';
            this.#doubled = true;
            this.#at += 1;
          } else if (byte === this.#separator || isBreak) {
            this.#cells.push([this.#cellAt, this.#at - 1, this.#doubled]);
            if (isBreak) yield* this.#endRecord();
            else this.#beginCell();
          } else {
            yield this.#giveUp('has something between a closing quote and the next separator');
            continue;
          }
          break;
        case 'lost':
          this.#skipLine();
          continue;
        default:
          if (isBreak || byte === this.#separator) {
            this.#cells.push([this.#cellAt, this.#at, false]);
            if (isBreak) yield* this.#endRecord();
            else this.#beginCell();
          } else if (byte === quote && this.#place === 'cell start') {
            this.#place = 'quoted';
            this.#at += 1;
            this.#cellAt = this.#at;
          } else {
            this.#place = 'plain';
            this.#pass(this.#separator, this.#cellAt + plainBytes);
          }
      }
      const excess = this.#excess();
      if (excess !== undefined) yield this.#giveUp(excess);
    }
    if (this.#ended) yield* this.#endFile();
  }

  *#endFile(): Generator<CsvRecord | CsvFault> {
    if (this.#place === 'quoted') {
      const { fault, hasMore } = {
        fault: this.#giveUp('has a quote that is never closed'),
        hasMore: this.#at < this.#length,
      };
      yield fault;
      if (hasMore) yield* this.#scan();
      return;
    }
    if (this.#place === 'lost' || this.#recordAt === this.#length) return;
    const isQuoted = this.#place === 'after quote';
    this.#cells.push([this.#cellAt, this.#at - (isQuoted ? 1 : 0), isQuoted && this.#doubled]);
    yield* this.#endRecord();
  }

  /** @returns whether the first line has come far enough to tell. */
  #findSeparator(): boolean {
    const looked = this.#looked;
    if (looked.at === 0) {
      const mark = byteOrderMark.subarray(0, this.#length);
      if (!this.#ended && this.#length < byteOrderMark.length) {
        if (mark.equals(this.#bytes.subarray(0, this.#length))) return false;
      } else if (this.#bytes.subarray(0, this.#length).indexOf(byteOrderMark) === 0) {
        this.#at = byteOrderMark.length;
        this.#recordAt = this.#at;
        this.#cellAt = this.#at;
      }
      looked.at = this.#at;
    }
    for (; looked.at < this.#length; looked.at++) {
      const byte = this.#bytes[looked.at] ?? 0;
      const isBreak = byte === lineFeed || byte === carriageReturn;
      if (byte === quote) looked.quoted = !looked.quoted;
      if (looked.quoted || (isBreak && !looked.begun)) continue;
      if (isBreak) break;
      looked.begun = true;
      const count = looked.counts.get(byte);
      if (count !== undefined) looked.counts.set(byte, count + 1);
    }
    if (looked.at === this.#length && !this.#ended && this.#length < csvBounds.cellBytes) return false;
    const [most] = [...looked.counts].toSorted(([, a], [, b]) => b - a);
    this.#separator = most?.[0];
    return true;
  }

  #beginCell(): void {
    this.#at += 1;
    this.#cellAt = this.#at;
    this.#place = 'cell start';
    this.#doubled = false;
    this.#nextLine = undefined;
  }

  #beginRecord(): void {
    this.#recordAt = this.#at;
    this.#recordLine = this.#line;
    this.#cells = [];
    this.#cellAt = this.#at;
    this.#place = 'cell start';
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

  *#endRecord(): Generator<CsvRecord | CsvFault> {
    const entry = this.#entry();
    if (this.#at < this.#length) this.#passBreak();
    this.#beginRecord();
    if (entry !== undefined) yield entry;
  }

  /** The record that ends here; none for a line of nothing. */
  #entry(): CsvRecord | CsvFault | undefined {
    if (this.#at === this.#recordAt) return undefined;
    const line = this.#recordLine;
    const record = this.#bytes.subarray(this.#recordAt, this.#at);
    if (!isUtf8(record)) return { line, fault: 'is not UTF-8' };
    if (record.includes(0)) return { line, fault: 'holds a NUL character, which cannot be stored' };
    const cells = this.#cells.map(([from, to, doubled]) => {
      const text = this.#bytes.toString('utf8', from, to);
      return doubled ? text.replaceAll('""', '"') : text;
    });
    const isTooLarge = ([from, to]: readonly [number, number, boolean], i: number) =>
      to - from > plainBytes && Buffer.byteLength(cells[i] ?? '') > plainBytes;
    return this.#cells.some(isTooLarge) ? { line, fault: tooLarge } : { line, cells };
  }

  /** Goes on to the next byte that means something, or to where the cell is too large. */
  #pass(meaning: number | undefined, limit: number): void {
    const bytes = this.#bytes;
    const end = Math.min(this.#length, limit + 1);
    let at = this.#at + 1;
    for (; at < end; at++) {
      const byte = bytes[at];
      if (byte === meaning || byte === lineFeed || byte === carriageReturn) break;
    }
    this.#at = at;
  }

  #excess(): string | undefined {
    const limit = this.#place === 'plain' ? plainBytes : quotedBytes + 1;
    if (this.#at - this.#cellAt > limit) return tooLarge;
    if (this.#at - this.#recordAt > csvBounds.recordBytes) return 'is longer than 2 MiB';
    if (this.#cells.length >= csvBounds.cells) return `has more than ${csvBounds.cells} cells`;
    return undefined;
  }

  /** Leaves the record: for the line after the one where a quote was opened, else for the next that comes. */
  #giveUp(fault: string): CsvFault {
    const line = this.#recordLine;
    if (this.#nextLine === undefined) {
      this.#place = 'lost';
      this.#recordAt = this.#at;
      this.#cells = [];
    } else {
      this.#at = this.#nextLine.at;
      this.#line = this.#nextLine.line;
      this.#beginRecord();
    }
    return { line, fault };
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
    // Nothing of it is kept.
    this.#recordAt = this.#at;
  }
}
