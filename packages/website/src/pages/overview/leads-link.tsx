import { Anchor } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** A link to the list, with filters of the API's names. */
export function LeadsLink({
  filters,
  children,
}: {
  filters: Readonly<Record<string, string>>;
  children: ReactNode;
}) {
  const router = useRouter();
  const href = `/leads?${new URLSearchParams(filters).toString()}`;
  return (
    <Anchor
      href={href}
      size="sm"
      // A name that someone else has chosen may be long and without a space.
      style={{ overflowWrap: 'anywhere' }}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        router.history.push(href);
      }}
    >
      {children}
    </Anchor>
  );
}
