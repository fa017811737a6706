import { Group, Title } from '@mantine/core';
import { type ReactNode } from 'react';
import { useTitle } from './use-title.ts';

/** The title of a page, on the page and in the browser's tab, with the page's actions. */
export function PageHeading({ title, children }: { title: string; children?: ReactNode }) {
  useTitle(title);
  return (
    <Group justify="space-between" mb="md" gap="sm">
      <Title order={1} size="h2" miw={0} style={{ overflowWrap: 'anywhere' }}>
        {title}
      </Title>
      <Group gap="xs">{children}</Group>
    </Group>
  );
}
