import { focusNearest, placesAround } from './use-focus-back.ts';

/**
 * Returns the focus to a button that was disabled while its request was in progress. Browsers take the focus from a
 * disabled button, and a screen reader would fall silent. From a button that its own action removed, the focus moves to a
 * place near it. A user who clicks elsewhere meanwhile keeps the new place.
 */
export function returnLostFocus(): void {
  let last: { readonly button: HTMLButtonElement; readonly around: readonly Element[] } | undefined;
  document.addEventListener('focusin', ({ target }) => {
    // A dialog keeps its focus itself, and a menu returns it.
    const isOfPage =
      target instanceof HTMLButtonElement && target.closest('[role="dialog"], [role="menu"]') === null;
    last = isOfPage ? { button: target, around: placesAround(target) } : undefined;
  });
  document.addEventListener('pointerdown', ({ target }) => {
    if (!(target instanceof Node && last?.button.contains(target))) last = undefined;
  });
  new MutationObserver(() => {
    if (last !== undefined && document.activeElement === document.body)
      focusNearest(last.button, last.around);
  }).observe(document, { subtree: true, childList: true, attributeFilter: ['disabled'] });
}
