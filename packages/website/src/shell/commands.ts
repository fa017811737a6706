import { type RefObject, useEffect, useId, useRef, useSyncExternalStore } from 'react';

/** An action that the command palette offers. */
export interface Command {
  readonly label: string;
  /** The key that does the same outside of the palette. */
  readonly shortcut?: string | undefined;
  /** Whether it changes a lead. The palette runs it only if the user has moved to it, not for Enter after a text. */
  readonly isChange?: boolean;
  /**
   * Whether it is an action on one entry of the page. Its label can contain a name that users search, so the palette runs
   * it only if the user has moved to it. It comes after the actions of the page.
   */
  readonly isOfEntry?: boolean;
  readonly run: () => void;
}

/** The commands of each mounted component, by the id of the component. */
let sources: ReadonlyMap<string, RefObject<readonly Command[]>> = new Map();
const listeners = new Set<() => void>();

function changeSources(change: (changed: Map<string, RefObject<readonly Command[]>>) => void): void {
  const changed = new Map(sources);
  change(changed);
  sources = changed;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Offers actions in the command palette while the component is mounted. */
export function useCommands(commands: readonly Command[]): void {
  const id = useId();
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  useEffect(() => {
    changeSources((changed) => changed.set(id, latest));
    return () => changeSources((changed) => changed.delete(id));
  }, [id]);
}

/** Returns the actions of the page. Those of the component that was mounted last come first, those of entries last. */
export function useCurrentCommands(): readonly (Command & { readonly id: string })[] {
  return [...useSyncExternalStore(subscribe, () => sources)]
    .toReversed()
    .flatMap(([source, { current }]) =>
      current.map((command) => Object.assign({ id: `${source} ${command.label}` }, command)),
    )
    .toSorted((a, b) => Number(a.isOfEntry ?? false) - Number(b.isOfEntry ?? false));
}
