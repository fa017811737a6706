import { Modal, type ModalProps } from '@mantine/core';
import { createContext, use, useEffect, useState } from 'react';
import { keepFocus } from './keep-focus.ts';
import { useFocusBack } from './use-focus-back.ts';

/** Notifies the dialog below when another dialog covers or uncovers it. */
const CoverContext = createContext<((isCovered: boolean) => void) | undefined>(undefined);

/** A dialog that is open while it is mounted. Closing it returns the focus, unless `isFocusReturned` returns false. */
export function Dialog({
  closeOnEscape = true,
  isFocusReturned,
  ...props
}: Omit<ModalProps, 'opened' | 'returnFocus'> & { isFocusReturned?: () => boolean }) {
  useFocusBack(isFocusReturned);
  const cover = use(CoverContext);
  const [isCovered, setCovered] = useState(false);
  useEffect(() => {
    cover?.(true);
    return () => cover?.(false);
  }, [cover]);
  return (
    <CoverContext value={setCovered}>
      {/* Escape closes the topmost dialog only. */}
      <Modal
        ref={keepFocus}
        opened
        returnFocus={false}
        // The library uses a <header>, which is a second banner of the page outside of its main element.
        attributes={{ header: { role: 'presentation' } }}
        closeOnEscape={closeOnEscape && !isCovered}
        {...props}
      />
    </CoverContext>
  );
}
