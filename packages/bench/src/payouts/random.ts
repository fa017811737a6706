/** A sequence of pseudorandom numbers, which its seed repeats. */
export interface Random {
  /** Returns a number from 0 to 1, exclusive. */
  next(): number;
  /** Returns a whole number from 0 to `end`, exclusive. */
  below(end: number): number;
  pick<Item>(items: readonly Item[]): Item;
}

/** Creates a sequence (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  return { next, below, pick: (items) => items[below(items.length)] as (typeof items)[number] };
}
