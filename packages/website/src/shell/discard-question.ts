import { useEffect } from 'react';
import { isFormOpen } from './modal.ts';
import { isReloadPrevented } from './workspace-reload.ts';

type Answer = (isDiscarded: boolean) => void;

/** The part of a page that knows its unsaved edits. */
interface UnsavedEdits {
  /** Asks the user to discard the edits. Without edits, it answers true at once. */
  readonly ask: (answer: Answer) => void;
  /** Returns whether there are unsaved edits. */
  readonly areLeft: () => boolean;
}

let edits: UnsavedEdits | undefined;

/** Connects the unsaved edits of a page. Returns a function that disconnects them. */
export function onUnsavedEdits(given: UnsavedEdits): () => void {
  edits = given;
  return () => {
    edits = undefined;
  };
}

/** Asks the user to discard unsaved edits. Returns whether the page can be left: without edits, it returns true at once. */
export function askToDiscard(): Promise<boolean> {
  return new Promise((resolve) => {
    if (edits === undefined) resolve(true);
    else edits.ask(resolve);
  });
}

/** The number of forms beside the dialogs with unsaved input. */
let unsavedForms = 0;

/** Keeps the input of a form that is in no dialog when the session ends. */
export function useFormInput(isUnsaved: boolean): void {
  useEffect(() => {
    if (!isUnsaved) return undefined;
    unsavedForms += 1;
    return () => void (unsavedForms -= 1);
  }, [isUnsaved]);
}

/** Returns whether the page has something that the end of the session would discard, such as input or a new secret. */
export const hasInput = (): boolean =>
  edits?.areLeft() === true || unsavedForms > 0 || isFormOpen() || isReloadPrevented();
