import type { ProxyTap } from '@leads/local-stack/processes/tcp-proxy';

/**
 * Cuts connections to Postgres right after a commit of leads is sent. The service then does not know whether
 * the commit succeeded. Every second cut happens after the response of Postgres, which is dropped.
 */
export class CommitCutter {
  #onCut: (() => void) | undefined;
  #cuts = 0;

  /** The number of connections that were cut. */
  get cuts(): number {
    return this.#cuts;
  }

  /** Cuts the next connection that commits leads. @returns a promise that settles after the cut. */
  cutNext(): Promise<void> {
    return new Promise((resolve) => {
      this.#onCut = resolve;
    });
  }

  /** Returns the tap of a connection. */
  tap(): ProxyTap {
    const commits = new CommitDetector();
    let atAnswer: (() => void) | undefined;
    return {
      sent: (bytes) => {
        if (!commits.read(bytes) || this.#onCut === undefined) return false;
        const onCut = this.#onCut;
        this.#onCut = undefined;
        if (this.#cuts++ % 2 === 0) {
          onCut();
          return true;
        }
        atAnswer = onCut;
        return false;
      },
      answered: () => {
        atAnswer?.();
        return atAnswer !== undefined;
      },
    };
  }
}

const sslRequest = 80_877_103;

/** Parses a client's messages to Postgres (PostgreSQL, 54.7 "Message Formats") and detects commits of new leads. */
class CommitDetector {
  #bytes = Buffer.alloc(0);
  #isStarted = false;
  /** The names of prepared statements that insert leads. */
  readonly #inserts = new Set<string>();
  #hasInserted = false;
  #isInTransaction = false;

  /**
   * Returns whether these bytes, together with an incomplete message before them, contain a commit of leads.
   */
  read(bytes: Buffer): boolean {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    let commits = false;
    for (;;) {
      const typeLength = this.#isStarted ? 1 : 0;
      if (this.#bytes.length < typeLength + 4) return commits;
      const end = typeLength + this.#bytes.readUInt32BE(typeLength);
      if (this.#bytes.length < end) return commits;
      const body = this.#bytes.subarray(typeLength + 4, end);
      if (this.#isStarted)
        commits = this.#readMessage(String.fromCharCode(this.#bytes[0] ?? 0), body) || commits;
      else this.#isStarted = body.readUInt32BE(0) !== sslRequest;
      this.#bytes = this.#bytes.subarray(end);
    }
  }

  /** Returns whether this message commits leads. */
  #readMessage(type: string, body: Buffer): boolean {
    const [first = '', second = ''] = body.toString('latin1').split('\0', 2);
    // Parse contains the name and the text of the statement. Bind contains the names of the portal and the
    // statement.
    if (type === 'P' && /INSERT INTO "?lead"?[\s(]/.test(second)) this.#inserts.add(first);
    else if (type === 'P') this.#inserts.delete(first);
    if (type === 'B' && this.#inserts.has(second)) this.#hasInserted = true;
    const isCommit = type === 'Q' && /^COMMIT/i.test(first);
    if (type === 'Q') this.#isInTransaction = /^BEGIN/i.test(first);
    if (!isCommit && (type !== 'S' || this.#isInTransaction)) return false;
    const commits = this.#hasInserted;
    this.#hasInserted = false;
    return commits;
  }
}
