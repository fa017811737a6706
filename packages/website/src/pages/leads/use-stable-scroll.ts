import type { Lead } from '@leads/core/lead';
import { type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * Keeps the visible rows where they are while leads above them arrive and leave, and when the rows get another height. Then
 * the active row stays in its place if it is visible, or else the first visible row. A list of other filters is not kept.
 *
 * @param virtualizer has the position before the rows changed.
 * @param places the indexes of the leads by their ids.
 * @param shownKey identifies the filters of the shown leads.
 * @param height the height of a row in pixels.
 * @param activeIndex the index of the active lead, or -1.
 */
export function useStableScroll(
  scroller: RefObject<HTMLElement | null>,
  virtualizer: { readonly scrollOffset: number | null },
  leads: readonly Lead[],
  places: ReadonlyMap<string, number>,
  shownKey: string,
  height: number,
  activeIndex: number,
): void {
  const anchored = useRef({ leads, shownKey, height });
  useLayoutEffect(() => {
    const before = anchored.current;
    anchored.current = { leads, shownKey, height };
    const element = scroller.current;
    if (element === null || before.shownKey !== shownKey) return;
    if (before.height !== height) {
      // The browser has already reduced the position of the element if lower rows make the list shorter.
      const scrolled = virtualizer.scrollOffset ?? 0;
      const first = scrolled / before.height;
      const isVisible = activeIndex >= first && activeIndex < first + element.clientHeight / before.height;
      // The top of the list stays if the active row is still visible there, below the heads.
      const staysAtTop = scrolled === 0 && (activeIndex + 2) * height <= element.clientHeight;
      const moved = (isVisible ? activeIndex : first) * (height - before.height);
      if (!staysAtTop) element.scrollTo(0, scrolled + moved);
    }
    if (before.leads === leads) return;
    if (element.scrollTop < height) return;
    const top = Math.floor(element.scrollTop / height);
    const index = before.leads.findIndex(({ id }, i) => i >= top && places.has(id));
    const moved = (places.get(before.leads[index]?.id ?? '') ?? index) - index;
    if (index !== -1 && moved !== 0) element.scrollBy(0, moved * height);
  }, [leads, shownKey, places, height, activeIndex, scroller, virtualizer]);
}
