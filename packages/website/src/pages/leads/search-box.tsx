import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import type { RefObject } from 'react';
import { IconSearch } from '../../shell/icons.tsx';
import * as texts from '../../texts/index.ts';
import { debounceMs, useTyped } from '../../shell/use-typed.ts';

const t = texts.leads;

/** The search field. The address follows its text after a delay. */
export function SearchBox({
  box,
  text,
  onSearch,
  onLeave,
}: {
  box: RefObject<HTMLInputElement | null>;
  text: string;
  onSearch: (q: string | undefined) => void;
  onLeave: () => void;
}) {
  const { typed, setTyped, setSent } = useTyped(text);
  const search = useDebouncedCallback((value: string) => {
    const q = value.trim();
    setSent(q);
    onSearch(q || undefined);
  }, debounceMs);
  return (
    <TextInput
      ref={box}
      size="xs"
      flex="1 1 220px"
      miw={0}
      type="search"
      aria-label={t.search}
      placeholder={t.searchHint}
      maxLength={255}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSection={
        typed !== '' && (
          <CloseButton
            size="sm"
            aria-label={t.clearSearch}
            onClick={() => {
              setTyped('');
              search('');
              search.flush();
              box.current?.focus();
            }}
          />
        )
      }
      value={typed}
      onChange={(event) => {
        setTyped(event.currentTarget.value);
        search(event.currentTarget.value);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && typed === '') onLeave();
        if (event.key === 'Enter' || event.key === 'ArrowDown') {
          search.flush();
          onLeave();
          event.preventDefault();
        }
      }}
    />
  );
}
