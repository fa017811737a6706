/**
 * Returns the focus to a button that was disabled while its request was in progress. Browsers take the focus from a
 * disabled button, and a screen reader would fall silent. A user who clicks elsewhere meanwhile keeps the new place.
 */
export function returnFocusToEnabled(): void {
  let last: Element | undefined;
  document.addEventListener('focusin', ({ target }) => {
    last = target instanceof Element ? target : undefined;
  });
  document.addEventListener('pointerdown', ({ target }) => {
    if (!(target instanceof Node && last?.contains(target))) last = undefined;
  });
  new MutationObserver(() => {
    const isLost = document.activeElement === document.body;
    // A dialog keeps its focus itself.
    if (isLost && last instanceof HTMLButtonElement && last.closest('[role="dialog"]') === null) last.focus();
  }).observe(document, { subtree: true, attributeFilter: ['disabled'] });
}
