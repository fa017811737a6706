import { Button, Group, Text } from '@mantine/core';
import { randomId } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { ApiError } from '../api/api-error.ts';
import * as texts from '../texts/index.ts';

/** The text of a notification with a button. */
export function Actionable({
  text,
  action,
  onAction,
}: {
  text: string;
  action: string;
  onAction: () => void;
}) {
  return (
    <Group justify="space-between" wrap="nowrap">
      <Text size="sm">{text}</Text>
      <Button size="compact-sm" variant="light" flex="none" onClick={onAction}>
        {action}
      </Button>
    </Group>
  );
}

/** How long a notification shows an error that the same action would have again, in milliseconds. */
const rejectedMs = 12_000;

/**
 * Shows the error of an action that has no place of its own for it, such as an item of a menu. An action that the server
 * has not answered, or could not do, can be tried again: its notification stays until the user closes it.
 *
 * @param options.text the default is the message of the error.
 */
export function showFailure(error: Error, retry: () => void, options: { text?: string } = {}): void {
  const { text = error.message } = options;
  if (!(error instanceof ApiError) || (error.status !== 0 && error.status < 500)) {
    notifications.show({ color: 'red', autoClose: rejectedMs, message: text });
    return;
  }
  const id = randomId();
  const onRetry = () => {
    notifications.hide(id);
    retry();
  };
  notifications.show({
    id,
    color: 'red',
    autoClose: false,
    message: <Actionable text={text} action={texts.common.retry} onAction={onRetry} />,
  });
}
