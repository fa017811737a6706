import { Anchor, type MantineSize } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { browserAddress } from '../api/workspace-address.ts';

/** A link to the lead list with filters, named as in the API. */
export function LeadsLink({
  filters,
  size = 'sm',
  children,
}: {
  filters: Readonly<Record<string, string>>;
  size?: MantineSize;
  children: ReactNode;
}) {
  const router = useRouter();
  const href = browserAddress(`/leads?${new URLSearchParams(filters).toString()}`);
  return (
    <Anchor
      href={href}
      size={size}
      // A name may be long and have no space.
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
