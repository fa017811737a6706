import { isInModal, isModalOpen } from './modal.ts';

/**
 * Keeps Escape from what is below a dialog while the focus is not in the dialog yet, which it enters some milliseconds
 * after the dialog is shown. The dialog closes, and the panel below it stays. Called before a dialog adds its own listener.
 */
export function keepEscapeInDialogs(): void {
  window.addEventListener(
    'keydown',
    (event) => {
      if (event.key === 'Escape' && !isInModal(event.target) && isModalOpen()) event.stopPropagation();
    },
    { capture: true },
  );
}
