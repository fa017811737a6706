import { LeadsError } from '../errors.ts';

/**
 * Shares a limited number of slots between tenants. A tenant gets a further slot while it has fewer slots than are free
 * (dynamic thresholds; Choudhury and Hahne, 1998). One tenant gets at most half of the slots, and two that compete get a
 * third each. So a few tenants never take all slots from the others.
 */
export class FairShares {
  readonly #slots: number;
  readonly #kind: string;
  readonly #taken = new Map<string, number>();
  #free: number;

  /**
   * @param slots the number of slots.
   * @param kind what takes a slot, as a plural noun for messages, such as `exports`.
   */
  constructor(slots: number, kind: string) {
    this.#slots = slots;
    this.#free = slots;
    this.#kind = kind;
  }

  /** The number of slots in use. */
  get used(): number {
    return this.#slots - this.#free;
  }

  /**
   * Takes a slot.
   *
   * @returns a function that frees the slot. Further calls have no effect.
   * @throws LeadsError `too_many_requests` if the tenant has its share; `unavailable` if no slot is free.
   */
  take(tenant: string): () => void {
    const taken = this.#taken.get(tenant) ?? 0;
    if (taken > 0 && taken >= this.#free) {
      throw new LeadsError('too_many_requests', {
        message: `This workspace has its share of ${this.#kind} in progress: try again later`,
        retryAfterSeconds: 5,
      });
    }
    if (this.#free === 0) {
      throw new LeadsError('unavailable', {
        message: `Too many ${this.#kind} in progress: try again later`,
      });
    }
    this.#change(tenant, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#change(tenant, -1);
      isTaken = false;
    };
  }

  #change(tenant: string, change: 1 | -1): void {
    const taken = (this.#taken.get(tenant) ?? 0) + change;
    if (taken === 0) this.#taken.delete(tenant);
    else this.#taken.set(tenant, taken);
    this.#free -= change;
  }
}
