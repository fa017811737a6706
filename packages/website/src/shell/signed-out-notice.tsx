import { Anchor, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { common as t } from '../texts/common.ts';

const id = 'signed-out';
const hide = () => notifications.hide(id);

/** Says that the session has ended, and offers to sign in beside the page, which keeps the input of the user. */
export function showSignedOut(): void {
  // The user may sign in in another tab. If not, the next request shows it again.
  window.addEventListener('focus', hide, { once: true });
  notifications.show({
    id,
    color: 'red',
    autoClose: false,
    message: (
      <Group justify="space-between">
        <Text size="sm">{t.signedOut}</Text>
        <Anchor href="/sign-in" target="_blank" rel="noopener" size="sm">
          {t.signInBeside}
        </Anchor>
      </Group>
    ),
  });
}
