import { Button, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { Dialog } from './dialog.tsx';
import { showFailure } from './failure-notice.tsx';
import * as texts from '../texts/index.ts';
import { secretMutation } from './secret-dialog.tsx';
import { ErrorNotice } from './states.tsx';

export interface Confirmation {
  readonly title: string;
  /** The label of the confirming button. */
  readonly action: string;
  readonly color?: string;
  readonly onConfirm: () => Promise<unknown>;
  /** Whether the response to the action has a secret. */
  readonly isSecret?: boolean;
  /** The effect of the action. */
  readonly children: ReactNode;
}

/**
 * Describes the effect and asks for confirmation. It stays open during the action and after a failure. If the user closes it
 * during the action, a notification shows the failure.
 */
export function ConfirmDialog({
  title,
  action,
  color = 'red.9',
  onConfirm,
  isSecret = false,
  onClose,
  children,
}: Confirmation & { readonly onClose: () => void }) {
  const isShown = useRef(true);
  const isClosed = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => void (isShown.current = false);
  }, []);
  const confirm = useMutation({
    ...(isSecret && secretMutation),
    mutationFn: onConfirm,
    gcTime: 0,
    // Another dialog may be open after the user closed this one. The parent may also remove this one without closing it,
    // such as with the row that the action removes.
    onSuccess() {
      if (!isClosed.current) onClose();
    },
    onError(error) {
      if (isShown.current) return;
      showFailure(error, () => confirm.mutate(), { text: texts.common.failed(action, error.message) });
    },
  });
  const close = () => {
    isClosed.current = true;
    onClose();
  };
  return (
    <Dialog onClose={close} title={title}>
      <Stack>
        {children}
        {confirm.isError && <ErrorNotice error={confirm.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
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
