type Answer = (isDiscarded: boolean) => void;

let show: ((answer: Answer) => void) | undefined;

/** Connects the question about the unsaved edits of a page. Returns a function that disconnects it. */
export function onDiscardQuestion(given: (answer: Answer) => void): () => void {
  show = given;
  return () => {
    show = undefined;
  };
}

/** Asks the user to discard unsaved edits. Returns whether the page can be left: without edits, it returns true at once. */
export function askToDiscard(): Promise<boolean> {
  return new Promise((resolve) => {
    if (show === undefined) resolve(true);
    else show(resolve);
  });
}
