import { Button, Group, Text } from '@mantine/core';
import { onlineManager, useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { recordNoAnswer } from '../api/connection.ts';
import * as texts from '../texts/index.ts';
import { IconPlugConnectedX } from './icons.tsx';

const t = texts.common;

const subscribe = (onChange: () => void) => onlineManager.subscribe(onChange);

/** Returns whether the server answers, as far as known. */
export function useOnline(): boolean {
  return useSyncExternalStore(subscribe, () => onlineManager.isOnline());
}

/** Reports that the server does not answer. It is in the header, so that it shows wherever the page is scrolled. */
export function ConnectionBanner() {
  const queryClient = useQueryClient();
  return (
    <Group role="alert" className="connection-banner" justify="space-between" wrap="nowrap" gap="xs" px="md">
      <Group gap="xs" wrap="nowrap" miw={0}>
        <IconPlugConnectedX size={18} aria-hidden style={{ flex: 'none' }} />
        <Text size="sm">{t.disconnected}</Text>
      </Group>
      <Button
        size="compact-sm"
        variant="default"
        flex="none"
        onClick={() => {
          recordNoAnswer();
          void queryClient.refetchQueries({ type: 'active' });
        }}
      >
        {t.retry}
      </Button>
    </Group>
  );
}
