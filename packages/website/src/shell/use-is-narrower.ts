import { type RefObject, useLayoutEffect, useState } from 'react';

/** Returns whether an element is narrower than a width in CSS pixels. It is measured before the page is painted. */
export function useIsNarrower(element: RefObject<HTMLElement | null>, width: number): boolean {
  const [isNarrower, setNarrower] = useState(false);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const measure = () => setNarrower(current.clientWidth < width);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [element, width]);
  return isNarrower;
}
