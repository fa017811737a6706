/**
 * Keeps the focus in a dialog when what had it goes with a step, or cannot have it while an answer is awaited:
 * nothing would be read aloud from then on. A ref of what is around the dialog.
 */
export function keepFocus(root: HTMLElement | null): (() => void) | undefined {
  if (root === null) return undefined;
  let last: EventTarget | null = null;
  const onFocus = ({ target }: FocusEvent) => {
    last = target;
  };
  const observer = new MutationObserver(() => {
    const dialog = root.querySelector<HTMLElement>('[role="dialog"]');
    const isLost = document.activeElement === document.body || document.activeElement === dialog;
    if (!isLost || !(last instanceof HTMLElement) || last === dialog) return;
    const before = last;
    before.focus();
    if (document.activeElement === before) return;
    dialog?.focus();
    // It may be back as soon as there is an answer.
    last = before;
  });
  root.addEventListener('focusin', onFocus);
  observer.observe(root, { subtree: true, childList: true, attributeFilter: ['disabled'] });
  return () => {
    observer.disconnect();
    root.removeEventListener('focusin', onFocus);
  };
}
