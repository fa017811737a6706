/**
 * Returns the index to which a key moves the active lead. Undefined for keys that do not move it.
 *
 * @param active the index of the active lead, -1 without one.
 * @param page the number of rows that PageUp and PageDown move by.
 * @param last the index of the last lead.
 */
export function indexAfterKey(key: string, active: number, page: number, last: number): number | undefined {
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: active + 1,
    j: active + 1,
    ArrowUp: active - 1,
    k: active - 1,
    PageDown: active + page,
    PageUp: active - page,
    Home: 0,
    End: last,
  };
  return moves[key];
}
