import { useEffect } from 'react';

/** Gives the focus back to where it was before a dialog that is gone as soon as it is closed; else to the list. */
export function useFocusBack(): void {
  useEffect(() => {
    const before = document.activeElement;
    return () => {
      const isThere = before instanceof HTMLElement && before.isConnected && before !== document.body;
      const target = isThere ? before : document.querySelector<HTMLElement>('[role="grid"]');
      target?.focus({ preventScroll: true });
    };
  }, []);
}
