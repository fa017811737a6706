import { Group, Paper, type PaperProps, Stack, Text } from '@mantine/core';
import type { ComponentPropsWithoutRef, ReactNode } from 'react';

/** One record of a list: its name, its details and its actions. On a narrow screen it is a card. */
export function RecordRow({
  title,
  facts,
  actions,
  children,
  ...props
}: Omit<PaperProps & ComponentPropsWithoutRef<'li'>, 'title'> & {
  title: ReactNode;
  facts: readonly (readonly [label: string, value: ReactNode])[];
  actions?: ReactNode;
}) {
  return (
    <Paper component="li" withBorder p="sm" {...props}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={6} flex="1 1 260px" miw={0}>
          <Group gap="xs">{title}</Group>
          <Group component="dl" gap="4px 20px" m={0}>
            {facts.map(([label, value]) => (
              <Group key={label} className="record-fact" gap={6} align="baseline" miw={0}>
                <Text component="dt" size="xs" c="dimmed" flex="none" maw="100%">
                  {label}
                </Text>
                <Text component="dd" size="sm" m={0} style={{ overflowWrap: 'anywhere' }}>
                  {value}
                </Text>
              </Group>
            ))}
          </Group>
          {children}
        </Stack>
        {actions !== undefined && (
          <Group gap="xs" miw={0}>
            {actions}
          </Group>
        )}
      </Group>
    </Paper>
  );
}

/** The list of {@link RecordRow}s. */
export function RecordList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: 'none' }} aria-label={label}>
      {children}
    </Stack>
  );
}
