/**
 * Keeps Escape from what is below a dialog while the focus is not in the dialog yet, which it enters some milliseconds
 * after the dialog is shown. The dialog closes, and the panel below it stays. Called before a dialog adds its own listener.
 */
export function keepEscapeInDialogs(): void {
  window.addEventListener(
    'keydown',
    (event) => {
      const dialog = document.querySelector('[aria-modal="true"]');
      if (event.key !== 'Escape' || dialog === null) return;
      if (!(event.target instanceof Element && event.target.closest('[aria-modal="true"]')))
        event.stopPropagation();
    },
    { capture: true },
  );
}
