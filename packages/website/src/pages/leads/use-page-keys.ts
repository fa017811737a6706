import { useEffect, useEffectEvent } from 'react';
import { keyConsumers } from './early-keys.ts';

/** Handles the keys of the page, by their names. They do nothing in fields, dialogs and menus. */
export function usePageKeys(actions: Readonly<Record<string, () => void>>): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
    if (event.target.closest(keyConsumers) !== null) return;
    const run = actions[event.key];
    if (run === undefined) return;
    run();
    event.preventDefault();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
}
