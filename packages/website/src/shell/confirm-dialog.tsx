import { Button, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import * as texts from '../texts/index.ts';
import { ErrorNotice } from './states.tsx';

export interface Confirmation {
  readonly title: string;
  /** The label of the confirming button. */
  readonly action: string;
  readonly color?: string;
  readonly onConfirm: () => Promise<unknown>;
  /** The effect of the action. */
  readonly children: ReactNode;
}

/** Describes the effect and asks for confirmation. It stays open during the action and after a failure. */
export function ConfirmDialog({
  title,
  action,
  color = 'red.9',
  onConfirm,
  onClose,
  children,
}: Confirmation & { readonly onClose: () => void }) {
  const confirm = useMutation({ mutationFn: onConfirm, gcTime: 0, onSuccess: onClose });
  return (
    <Dialog onClose={onClose} title={title}>
      <Stack>
        {children}
        {confirm.isError && <ErrorNotice error={confirm.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {texts.common.cancel}
          </Button>
          <Button color={color} loading={confirm.isPending} onClick={() => confirm.mutate()}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
