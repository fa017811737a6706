/** How long a tenant counts as active after a request, in milliseconds. */
const activeMs = 1_000;

interface Seen {
  readonly tenant: string;
  readonly at: number;
}

/** Remembers which tenants sent requests in the last second. It needs to know only the last two. */
export class RecentTenants {
  readonly #now: () => number;
  #last: Seen | undefined;
  /** The last tenant before {@link #last} that is another one. */
  #other: Seen | undefined;

  /** @param nowMs a clock in milliseconds, for tests. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#now = nowMs;
  }

  /** Notes a request of a tenant. */
  note(tenant: string): void {
    if (this.#last !== undefined && this.#last.tenant !== tenant) this.#other = this.#last;
    this.#last = { tenant, at: this.#now() };
  }

  /** Whether a tenant other than the given one sent a request in the last second. */
  hasOther(tenant: string): boolean {
    const seen = this.#last?.tenant === tenant ? this.#other : this.#last;
    return seen !== undefined && this.#now() - seen.at < activeMs;
  }
}
