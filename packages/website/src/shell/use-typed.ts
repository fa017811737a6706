import { useState } from 'react';

/** How long after the last key the address follows the text of a field, in milliseconds. */
export const debounceMs = 250;

/**
 * The text of a field, or the values of a form as JSON, that the address follows later. A navigation to another address
 * replaces the text. That to the text that the field has sent does not, because the user can have typed on.
 */
export function useTyped(text: string) {
  const [typed, setTyped] = useState(text);
  const [sent, setSent] = useState(text);
  const [known, setKnown] = useState(text);
  if (known !== text) {
    setKnown(text);
    if (text !== sent) {
      setTyped(text);
      setSent(text);
    }
  }
  return { typed, setTyped, setSent };
}
