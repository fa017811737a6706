import { useEffect, useState } from 'react';

/** The elements that can take the focus if the focused element is removed, nearest first. */
const places = 'li, section, [role="dialog"]';

/**
 * Returns the focus when a dialog closes: to the element that opened the dialog or, if that element is gone, to its
 * nearest remaining container.
 */
export function useFocusBack(): void {
  // The menu that opened the dialog may be gone when the dialog appears.
  const [chosenFrom] = useState(() => openerOf(document.activeElement));
  useEffect(() => {
    const opener = openerOf(document.activeElement) ?? chosenFrom;
    const around: Element[] = [];
    for (let at = opener?.parentElement; at; at = at.parentElement) if (at.matches(places)) around.push(at);
    return () => {
      const target =
        [opener, ...around].find((element) => element?.isConnected) ??
        document.querySelector('[role="grid"]') ??
        document.querySelector('main');
      if (!(target instanceof HTMLElement)) return;
      // Only tabbable elements and those with a tabindex take the focus.
      if (target !== opener && !target.hasAttribute('tabindex')) target.tabIndex = -1;
      target.focus({ preventScroll: target !== opener });
    };
  }, [chosenFrom]);
}

/** Returns the element that opened a dialog. For a menu item, which closes, it is the button of the menu. */
function openerOf(focused: Element | null): Element | undefined {
  const menu = focused?.closest('[role="menu"]');
  const button = document.getElementById(menu?.getAttribute('aria-labelledby') ?? '');
  const opener = button ?? focused;
  return opener === null || opener === document.body ? undefined : opener;
}
