import type { Principal } from '../credential/principal.ts';
import { LeadsError } from '../errors.ts';

/** Who takes a slot. */
export type UserOfWorkspace = Pick<Principal, 'workspaceId' | 'userId' | 'role'>;

/**
 * Shares a limited number of slots between workspaces. A workspace gets a further slot while it has fewer slots than are
 * free (dynamic thresholds; Choudhury and Hahne, 1998). One workspace gets at most half of the slots, and two that compete
 * get a third each. So a few workspaces never take all slots from the others.
 *
 * The publishers of a workspace leave slots to its other users. One publisher gets at most a quarter of all slots, and all
 * publishers get three eighths: half and three quarters of the slots of one workspace.
 */
export class FairShares {
  readonly #slots: number;
  readonly #kind: string;
  /** The slots in use by each workspace, by each publisher of a workspace, and by all publishers of a workspace. */
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
   * @throws LeadsError `too_many_requests` if the workspace, the publisher or all publishers have their share;
   *   `unavailable` if no slot is free.
   */
  take({ workspaceId, userId, role }: UserOfWorkspace): () => void {
    const tooMany = (who: string) =>
      new LeadsError('too_many_requests', {
        message: `${who} of ${this.#kind} in progress: try again later`,
        retryAfterSeconds: 5,
      });
    const taken = this.#taken.get(workspaceId) ?? 0;
    if (taken > 0 && taken >= this.#free) throw tooMany('This workspace has its share');
    const limits =
      role !== 'publisher'
        ? []
        : [
            { key: `${workspaceId} ${userId}`, share: 1 / 4, who: 'This publisher has its share' },
            {
              key: `${workspaceId} publishers`,
              share: 3 / 8,
              who: 'The publishers of this workspace have their share',
            },
          ];
    for (const { key, share, who } of limits) {
      if ((this.#taken.get(key) ?? 0) >= Math.max(1, Math.floor(this.#slots * share))) throw tooMany(who);
    }
    if (this.#free === 0) {
      throw new LeadsError('unavailable', {
        message: `Too many ${this.#kind} in progress: try again later`,
      });
    }
    const keys = [workspaceId, ...limits.map(({ key }) => key)];
    this.#change(keys, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#change(keys, -1);
      isTaken = false;
    };
  }

  #change(keys: readonly string[], change: 1 | -1): void {
    for (const key of keys) {
      const taken = (this.#taken.get(key) ?? 0) + change;
      if (taken === 0) this.#taken.delete(key);
      else this.#taken.set(key, taken);
    }
    this.#free -= change;
  }
}
