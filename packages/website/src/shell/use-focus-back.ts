import { useEffect, useState } from 'react';

/** Where a reader goes on when what they were on is gone: around it, the nearest of these that is left. */
const places = 'li, section, [role="dialog"]';

/**
 * Gives the focus back when a dialog closes, which is gone by then: to what it was opened from, or to what that
 * was in where it is gone too (a row that was revoked, a button that became another).
 */
export function useFocusBack(): void {
  // A menu that it was chosen from may be gone when the dialog is there.
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
      // Only what is tabbed to, or is told so, takes the focus.
      if (target !== opener && !target.hasAttribute('tabindex')) target.tabIndex = -1;
      target.focus({ preventScroll: target !== opener });
    };
  }, [chosenFrom]);
}

/** What a dialog was opened from: of an item of a menu, which closes with it, the button of the menu. */
function openerOf(focused: Element | null): Element | undefined {
  const menu = focused?.closest('[role="menu"]');
  const button = document.getElementById(menu?.getAttribute('aria-labelledby') ?? '');
  const opener = button ?? focused;
  return opener === null || opener === document.body ? undefined : opener;
}
