import type { Me } from '@leads/core/account';
import { Button } from '@mantine/core';
import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { readLeadSearch } from '../leads/lead-search.ts';
import * as texts from '../texts/index.ts';
import { IconSearch } from './icons.tsx';
import { lazyDialog } from './lazy-part.tsx';
import { isModalOpen } from './modal.ts';
import { shortcutKeyOf } from './shortcut-key.ts';

const t = texts.common;
const shortcut = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘ K' : 'Ctrl K';

const CommandPalette = lazyDialog(async () => (await import('./command-palette.tsx')).CommandPalette);

/** What the user has typed before the palette was shown. */
export interface TypedEarly {
  readonly text: string;
  /** Whether the last key was Enter. */
  readonly isEntered: boolean;
}
const noKeys: TypedEarly = { text: '', isEntered: false };

/** Opens the command palette, also by Ctrl K or Command K. */
export function PaletteButton({ me }: { me: Me }) {
  const navigate = useNavigate();
  const { pathname, search } = useRouterState({ select: ({ location }) => location });
  /** The path of the page on which the palette was opened. Another page closes it, such as the one that Back leads to. */
  const [openedOn, setOpenedOn] = useState<string>();
  if (openedOn !== undefined && openedOn !== pathname) setOpenedOn(undefined);
  const isOpen = openedOn === pathname;
  /** What the user types before the palette can take it. Undefined while the palette is closed or takes the keys itself. */
  const typed = useRef<TypedEarly>(undefined);
  const open = () => {
    // A dialog above the page keeps the keys.
    if (isModalOpen()) return;
    typed.current = noKeys;
    setOpenedOn(pathname);
    void CommandPalette.preload().then((isLoaded) => {
      // Without the palette, the keys are for the page.
      if (!isLoaded) typed.current = undefined;
    });
  };
  const close = () => {
    typed.current = undefined;
    setOpenedOn(undefined);
  };
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if ((ctrlKey || metaKey) && !altKey && !shiftKey && shortcutKeyOf(event) === 'k') {
      event.preventDefault();
      if (isOpen) close();
      else if (!event.repeat) open();
    } else if (isOpen && typed.current !== undefined && !ctrlKey && !metaKey) {
      // The page must not take these keys as its shortcuts.
      event.preventDefault();
      event.stopPropagation();
      const { text, isEntered } = typed.current;
      if (key === 'Escape') close();
      // After Enter, the next keys are meant for the lead that opens.
      else if (isEntered) return;
      else if (key === 'Enter') typed.current = { text, isEntered: true };
      else if (key === 'Backspace') typed.current = { text: text.slice(0, -1), isEntered };
      else if (key.length === 1) typed.current = { text: text + key, isEntered };
    }
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKey(event);
    document.addEventListener('keydown', listener, { capture: true });
    // Loaded after the page, so that the palette opens at once.
    const timer = setTimeout(() => void CommandPalette.preload(), 3_000);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('keydown', listener, { capture: true });
    };
  }, []);
  return (
    <>
      <Button
        variant="default"
        size="compact-md"
        c="dimmed"
        fw={400}
        fz="sm"
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={<span className="palette-keys" data-keys={shortcut} />}
        className="palette-button"
        aria-label={t.find}
        aria-keyshortcuts="Control+K Meta+K"
        onClick={open}
        onPointerEnter={() => void CommandPalette.preload()}
      >
        {t.find}
      </Button>
      {isOpen && (
        <CommandPalette
          me={me}
          navigate={navigate}
          search={pathname === '/leads' ? readLeadSearch(search) : undefined}
          takeTyped={() => {
            const taken = typed.current ?? noKeys;
            typed.current = undefined;
            return taken;
          }}
          onClose={close}
        />
      )}
    </>
  );
}
