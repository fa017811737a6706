import { Paper, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** A list without records: what they are for, and the button of the next step. */
export function EmptyState({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <Paper withBorder p="md" style={{ borderStyle: 'dashed' }}>
      <Stack align="flex-start" gap="sm">
        <Text size="sm" maw={640}>
          {text}
        </Text>
        {children}
      </Stack>
    </Paper>
  );
}

/**
 * Whether the button of the next step is above a list, and not in its empty state. While the list is loaded, the button is
 * in neither: it would lose the focus when it moves.
 */
export function isActionAbove(records: readonly unknown[] | undefined, error: Error | null): boolean {
  return records === undefined ? error !== null : records.length > 0;
}
