import { useEffect, useLayoutEffect, useRef } from 'react';
import { statusKeys } from '../../leads/lead-status.ts';
import { shortcutKeyOf } from '../../shell/shortcut-key.ts';

/** The elements in which keys are not shortcuts of the page. */
export const keyConsumers =
  'input:not([type="radio"], [type="checkbox"]), textarea, select, [role="dialog"], [role="menu"]';

const panelKeys = new Set(['Escape', 'j', 'k', 'u', ...Object.keys(statusKeys)]);

/** The keys that the user presses after a lead is chosen and before its panel has the focus. */
export interface EarlyKeys {
  /** Called when the user chooses a lead in the list. */
  choose(id: string): void;
  /** Whether the user chose a lead in the list, and so has read its row. */
  isChosen(id: string): boolean;
  /** Returns the kept keys in their order. From then on, the panel receives the keys itself. */
  take(): readonly string[];
}

/**
 * Keeps the keys of the panel until it is mounted, because its script, its lead and the new address take some time. The
 * list would apply them to its selection. On a narrow screen, no element would receive them.
 *
 * @param isOpen whether the address names a lead.
 */
export function useEarlyKeys(isOpen: boolean): EarlyKeys {
  /** Undefined while no panel is opening. */
  const kept = useRef<string[]>(undefined);
  const chosen = useRef<string>(undefined);
  useLayoutEffect(() => {
    kept.current = isOpen ? (kept.current ?? []) : undefined;
  }, [isOpen]);
  useEffect(() => {
    const keep = (event: KeyboardEvent) => {
      const key = shortcutKeyOf(event);
      if (kept.current === undefined || event.defaultPrevented || !panelKeys.has(key)) return;
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
      if (event.target.closest(keyConsumers) !== null) return;
      event.preventDefault();
      event.stopPropagation();
      // A key that is held down must not change the leads that follow.
      if (!event.repeat) kept.current.push(key);
    };
    document.addEventListener('keydown', keep, { capture: true });
    return () => document.removeEventListener('keydown', keep, { capture: true });
  }, []);
  return {
    choose(id) {
      chosen.current = id;
      if (!isOpen) kept.current ??= [];
    },
    isChosen: (id) => chosen.current === id,
    take() {
      const keys = kept.current ?? [];
      kept.current = undefined;
      return keys;
    },
  };
}
