import { isFormOpen } from './modal.ts';

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

/** Returns whether the page has input that a sign-out would discard: unsaved edits, or the form of a dialog. */
export const hasInput = (): boolean => edits?.areLeft() === true || isFormOpen();
