import type { Lead } from '@leads/core/lead';
import { type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * Keeps the visible rows where they are while leads above them arrive and leave. A list of other filters is not kept.
 *
 * @param places the indexes of the leads by their ids.
 * @param shownKey identifies the filters of the shown leads.
 * @param height the height of a row in pixels.
 */
export function useStableScroll(
  scroller: RefObject<HTMLElement | null>,
  leads: readonly Lead[],
  places: ReadonlyMap<string, number>,
  shownKey: string,
  height: number,
): void {
  const anchored = useRef({ leads, shownKey });
  useLayoutEffect(() => {
    const before = anchored.current;
    anchored.current = { leads, shownKey };
    const element = scroller.current;
    if (element === null || before.leads === leads || before.shownKey !== shownKey) return;
    if (element.scrollTop < height) return;
    const top = Math.floor(element.scrollTop / height);
    const index = before.leads.findIndex(({ id }, i) => i >= top && places.has(id));
    const moved = (places.get(before.leads[index]?.id ?? '') ?? index) - index;
    if (index !== -1 && moved !== 0) element.scrollBy(0, moved * height);
  }, [leads, shownKey, places, height, scroller]);
}
