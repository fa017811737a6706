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
