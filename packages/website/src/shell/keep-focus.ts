/**
 * Keeps the focus in a dialog when the focused element disappears or is disabled during a request. Without the focus, a
 * screen reader would fall silent. Keeps the focus also where a user moves it while the dialog opens. Keeps the focused
 * element in view when a response makes the content above it higher. Returns a ref for the element around the dialog.
 */
export function keepFocus(root: HTMLElement | null): (() => void) | undefined {
  if (root === null) return undefined;
  let last: EventTarget | null = null;
  let wasInView = false;
  const onScroll = () => {
    wasInView = isInView(document.activeElement);
  };
  const onFocus = ({ target }: FocusEvent) => {
    last = target;
    onScroll();
    if (!(target instanceof HTMLElement) || target.role === 'dialog') return;
    // Mantine focuses the element with this attribute by timers, which may come after the user has moved the focus.
    root.querySelector('[data-autofocus]')?.removeAttribute('data-autofocus');
    target.dataset['autofocus'] = 'true';
  };
  const observer = new MutationObserver(() => {
    // After the user has scrolled away from the focused element, it stays out of view.
    if (wasInView && root.contains(document.activeElement) && !isInView(document.activeElement))
      document.activeElement?.scrollIntoView({ block: 'nearest' });
    const dialog = root.querySelector<HTMLElement>('[role="dialog"]');
    const isLost = document.activeElement === document.body || document.activeElement === dialog;
    if (!isLost || !(last instanceof HTMLElement) || last === dialog) return;
    const before = last;
    before.focus();
    if (document.activeElement === before) return;
    dialog?.focus();
    // The focused element may return with the response.
    last = before;
  });
  root.addEventListener('focusin', onFocus);
  root.addEventListener('scroll', onScroll, { capture: true, passive: true });
  observer.observe(root, { subtree: true, childList: true, attributeFilter: ['disabled'] });
  return () => {
    observer.disconnect();
    root.removeEventListener('focusin', onFocus);
    root.removeEventListener('scroll', onScroll, { capture: true });
  };
}

/** Whether the whole element is visible in its dialog. */
function isInView(element: Element | null): boolean {
  const dialog = element?.closest('[role="dialog"]');
  if (!element || !dialog || element === dialog) return false;
  const { top, bottom } = element.getBoundingClientRect();
  const view = dialog.getBoundingClientRect();
  return top >= Math.max(view.top, 0) && bottom <= Math.min(view.bottom, innerHeight);
}
