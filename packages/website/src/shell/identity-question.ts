type Answer = (isConfirmed: boolean) => void;

let show: ((answer: Answer) => void) | undefined;

/** Connects the dialog that asks the user for the password or the second factor. Returns a function that disconnects it. */
export function onIdentityQuestion(given: (answer: Answer) => void): () => void {
  show = given;
  return () => {
    show = undefined;
  };
}

/** Opens that dialog. Returns whether the user has confirmed the identity. */
export function askForIdentity(): Promise<boolean> {
  return new Promise((resolve) => {
    if (show === undefined) resolve(false);
    else show(resolve);
  });
}
