const modal = '[aria-modal="true"]';

/** Whether a dialog is above the page. The panel of a lead is beside the list, and is not modal. */
export const isModalOpen = (): boolean => document.querySelector(modal) !== null;

/** Whether a dialog with a form is above the page. */
export const isFormOpen = (): boolean => document.querySelector(`${modal} form`) !== null;

/** Whether an element, such as the focused one or the target of an event, is in a dialog above the page. */
export const isInModal = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(modal) !== null;
