import { Group, Title } from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { texts } from '../texts/index.ts';

/** The title of a page, in the page and in the browser's tab, and what can be done on it. */
export function PageHeading({ title, children }: { title: string; children?: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · ${texts.common.product}`;
  }, [title]);
  return (
    <Group justify="space-between" mb="md" gap="sm">
      <Title order={1} size="h2">
        {title}
      </Title>
      <Group gap="xs">{children}</Group>
    </Group>
  );
}
