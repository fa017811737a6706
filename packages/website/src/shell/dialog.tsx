import { Modal, type ModalProps } from '@mantine/core';
import { useEffect, useId, useSyncExternalStore } from 'react';
import { keepFocus } from './keep-focus.ts';
import { useFocusBack } from './use-focus-back.ts';

/** The ids of the open dialogs, topmost last. A dialog can cover one of another part of the page. */
let openDialogs: readonly string[] = [];
const listeners = new Set<() => void>();

function changeOpenDialogs(changed: readonly string[]): void {
  openDialogs = changed;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * A dialog that is open while it is mounted. Closing it returns the focus, unless `isFocusReturned` returns false. A click
 * beside it closes it only with `closeOnClickOutside`, because most dialogs have input, which the click would discard.
 *
 * A request closes its dialog by the callback of its call: `mutate(values, { onSuccess: onClose })`. That callback does not
 * run after the user has closed the dialog. A callback of the mutation would close the dialog that is open by then.
 */
export function Dialog({
  closeOnEscape = true,
  closeOnClickOutside = false,
  isFocusReturned,
  ...props
}: Omit<ModalProps, 'opened' | 'returnFocus'> & { isFocusReturned?: () => boolean }) {
  useFocusBack(isFocusReturned);
  const id = useId();
  useEffect(() => {
    changeOpenDialogs([...openDialogs, id]);
    return () => changeOpenDialogs(openDialogs.filter((each) => each !== id));
  }, [id]);
  const isTopmost = useSyncExternalStore(subscribe, () => openDialogs.at(-1) === id);
  return (
    <Modal
      ref={keepFocus}
      opened
      returnFocus={false}
      // The library uses a <header>, which is a second banner of the page outside of its main element.
      attributes={{ header: { role: 'presentation' } }}
      closeOnEscape={closeOnEscape && isTopmost}
      closeOnClickOutside={closeOnClickOutside}
      {...props}
    />
  );
}
