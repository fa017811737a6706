import { createContext, useContext, useEffect, useEffectEvent, useState } from 'react';
import { focusPage } from './focus-page.ts';

/** The elements that can take the focus if the focused element is removed, nearest first. */
const places = 'li, section, [role="tabpanel"], [role="dialog"]';

/** The element that had the focus when a dialog was opened whose code was loaded first. */
export const DialogOpener = createContext<Element | undefined>(undefined);

/**
 * Returns the focus when a dialog closes: to the element that opened the dialog. If that element is gone, to the button
 * with the same label in its nearest remaining container, because a list shows its button elsewhere while it is empty.
 * Without such a button, to the container, the list of leads or the heading of the page.
 *
 * @param isReturned returns false if what the dialog opens takes the focus instead.
 */
export function useFocusBack(isReturned: () => boolean = () => true): void {
  // The menu that opened the dialog may be gone when the dialog appears. Then no element has the focus for some time.
  const earlierOpener = useContext(DialogOpener);
  const [chosenFrom] = useState(() => openerOf(document.activeElement) ?? earlierOpener);
  const shouldReturn = useEffectEvent(isReturned);
  useEffect(() => {
    const opener = openerOf(document.activeElement) ?? chosenFrom;
    const around = placesAround(opener);
    return () => {
      if (shouldReturn()) focusNearest(opener, around);
    };
  }, [chosenFrom]);
}

/** Returns the places around an element that can take its focus, nearest first. */
export function placesAround(element: Element | undefined): readonly Element[] {
  const around: Element[] = [];
  for (let at = element?.parentElement; at; at = at.parentElement) if (at.matches(places)) around.push(at);
  return around;
}

/** Focuses an element, or what is left of the places around it. */
export function focusNearest(opener: Element | undefined, around: readonly Element[]): void {
  const remaining = [opener, ...around].find((element) => element?.isConnected);
  const target =
    (remaining === opener ? undefined : buttonLike(opener, remaining)) ??
    remaining ??
    document.querySelector('[role="grid"]');
  if (!(target instanceof HTMLElement)) {
    focusPage();
    return;
  }
  // Only tabbable elements and those with a tabindex take the focus.
  if (target.matches(places) && !target.hasAttribute('tabindex')) target.tabIndex = -1;
  // A place is usually higher than the window.
  target.focus({ preventScroll: target !== opener && !target.matches('button') });
}

/** Returns the only button in a container that has the label of another button. */
function buttonLike(button: Element | undefined, container: Element | undefined): Element | undefined {
  const label = labelOf(button);
  const same = [...(container?.querySelectorAll('button') ?? [])].filter((each) => labelOf(each) === label);
  return label !== '' && same.length === 1 ? same[0] : undefined;
}

const labelOf = (element: Element | undefined) =>
  element?.getAttribute('aria-label') ?? element?.textContent ?? '';

/** Returns the element that opened a dialog. For a menu item, which closes, it is the button of the menu. */
export function openerOf(focused: Element | null): Element | undefined {
  const menu = focused?.closest('[role="menu"]');
  const button = document.getElementById(menu?.getAttribute('aria-labelledby') ?? '');
  const opener = button ?? focused;
  return opener === null || opener === document.body ? undefined : opener;
}
