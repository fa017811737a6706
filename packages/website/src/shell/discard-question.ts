type Answer = (isDiscarded: boolean) => void;

/** The part of a page that knows its unsaved edits. */
interface UnsavedEdits {
  /** Asks the user to discard the edits. Without edits, it answers true at once. */
  readonly ask: (answer: Answer) => void;
  /** Keeps the edits after the session has ended, and shows that it has. Returns false if there are none. */
  readonly keep: () => boolean;
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

/** Keeps the page after the session has ended if it has unsaved edits. Returns whether it has. */
export const keepUnsavedEdits = (): boolean => edits?.keep() === true;
