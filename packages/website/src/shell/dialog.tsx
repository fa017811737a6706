import { Modal, type ModalProps } from '@mantine/core';
import { createContext, use, useEffect, useState } from 'react';
import { keepFocus } from './keep-focus.ts';
import { useFocusBack } from './use-focus-back.ts';

/** Tells the dialog that one is opened from that it is covered, or is not any more. */
const CoverContext = createContext<((isCovered: boolean) => void) | undefined>(undefined);

/** A dialog that is open for as long as it is there; who closes it is back where they were. */
export function Dialog({ closeOnEscape = true, ...props }: Omit<ModalProps, 'opened' | 'returnFocus'>) {
  useFocusBack();
  const cover = use(CoverContext);
  const [isCovered, setCovered] = useState(false);
  useEffect(() => {
    cover?.(true);
    return () => cover?.(false);
  }, [cover]);
  return (
    <CoverContext value={setCovered}>
      {/* Escape closes one at a time, the uppermost. */}
      <Modal
        ref={keepFocus}
        opened
        returnFocus={false}
        closeOnEscape={closeOnEscape && !isCovered}
        {...props}
      />
    </CoverContext>
  );
}
