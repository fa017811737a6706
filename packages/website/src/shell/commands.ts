import { type RefObject, useEffect, useRef } from 'react';

/** An action that the command palette offers. */
export interface Command {
  readonly label: string;
  /** The key that does the same outside of the palette. */
  readonly shortcut?: string | undefined;
  /** Whether it changes a lead. The palette runs it only if the user has moved to it, not for Enter after a text. */
  readonly isChange?: boolean;
  readonly run: () => void;
}

const sources = new Set<RefObject<readonly Command[]>>();

/** Offers actions in the command palette while the component is mounted. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  useEffect(() => {
    sources.add(latest);
    return () => void sources.delete(latest);
  }, []);
}

/** Returns the actions of the page. Those of the component that was mounted last come first. */
export function currentCommands(): readonly Command[] {
  return [...sources].toReversed().flatMap(({ current }) => current);
}
