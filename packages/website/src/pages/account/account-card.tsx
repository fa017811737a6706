import { Center, Paper, Stack, Text, Title } from '@mantine/core';
import { type ReactNode } from 'react';
import { Brand } from '../../shell/brand.tsx';
import { useTitle } from '../../shell/use-title.ts';

/** The frame of the pages before sign-in. */
export function AccountCard({
  title,
  lead,
  children,
  width = 400,
}: {
  title: string;
  lead?: string | undefined;
  children: ReactNode;
  width?: number;
}) {
  useTitle(title);
  return (
    <Center mih="100dvh" p="md" component="main">
      <Stack w="100%" maw={width} gap="lg">
        <Brand justify="center" />
        <Paper withBorder p="lg" shadow="xs">
          <Stack>
            <Title order={1} size="h3">
              {title}
            </Title>
            {lead !== undefined && (
              <Text size="sm" c="dimmed">
                {lead}
              </Text>
            )}
            {children}
          </Stack>
        </Paper>
      </Stack>
    </Center>
  );
}
