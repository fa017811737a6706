/**
 * Keeps the focus in a dialog when the focused element disappears or is disabled during a request. Without the focus, a
 * screen reader would fall silent. Keeps the focus also where a user moves it while the dialog opens. Returns a ref for
 * the element around the dialog.
 */
export function keepFocus(root: HTMLElement | null): (() => void) | undefined {
  if (root === null) return undefined;
  let last: EventTarget | null = null;
  const onFocus = ({ target }: FocusEvent) => {
    last = target;
    if (!(target instanceof HTMLElement) || target.role === 'dialog') return;
    // Mantine focuses the element with this attribute by timers, which may come after the user has moved the focus.
    root.querySelector('[data-autofocus]')?.removeAttribute('data-autofocus');
    target.dataset['autofocus'] = 'true';
  };
  const observer = new MutationObserver(() => {
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
  observer.observe(root, { subtree: true, childList: true, attributeFilter: ['disabled'] });
  return () => {
    observer.disconnect();
    root.removeEventListener('focusin', onFocus);
  };
}
