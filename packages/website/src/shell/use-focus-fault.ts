import { type FormEvent, type RefObject, useEffect, useRef } from 'react';
import { fieldErrorsOf } from '../api/client.ts';

/**
 * Moves the focus to the first field with an error after the server has rejected a form. At 400 % zoom, the field is out
 * of view while the submit button has the focus. Returns a ref for an element of the form.
 */
export function useFocusFault(error: Error | null): RefObject<HTMLDivElement | null> {
  const part = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (Object.keys(fieldErrorsOf(error)).length === 0) return;
    part.current?.closest('form')?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  return part;
}

/**
 * Returns the second parameter of `onSubmit` of a form with `validate`. It moves the focus to the first field that the page
 * itself has rejected, because nothing else announces the error.
 *
 * @param reset removes the error of the request that was sent before.
 */
export function focusRejected(reset: () => void) {
  return (errors: object, _values: unknown, event: FormEvent<HTMLFormElement> | undefined): void => {
    reset();
    const [path = ''] = Object.keys(errors);
    event?.currentTarget.querySelector<HTMLElement>(`[data-path="${path}"]`)?.focus();
  };
}
