import { Alert, Button, Code, Group, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useIsMutating } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import * as texts from '../texts/index.ts';
import { CopyTextButton } from './copy-text-button.tsx';
import { Dialog } from './dialog.tsx';
import { useKeepPage } from './use-keep-page.ts';

const t = texts.common;

/** Options of a mutation whose response has a secret. The response is not cached. */
export const secretMutation = { mutationKey: ['secret'], gcTime: 0 } as const;

/** A secret that the service shows only once. */
export interface ShownSecret {
  /** The title of the dialog. */
  readonly title: string;
  /** What the secret is of. */
  readonly name: string;
  readonly secret: string;
}

/** The dialog of the secrets of a page, and a function that shows one. A secret waits until the user has stored the one before. */
export function useSecretDialog(): {
  readonly show: (secret: ShownSecret) => void;
  readonly dialog: ReactNode;
} {
  const [secrets, setSecrets] = useState<readonly ShownSecret[]>([]);
  return {
    show: (secret) => setSecrets((before) => [...before, secret]),
    dialog: <SecretDialog shown={secrets[0]} onClose={() => setSecrets((before) => before.slice(1))} />,
  };
}

/**
 * Shows a secret once. It closes only when the user confirms that it is stored. The page stays until then, also while a
 * {@link secretMutation} waits for its response.
 *
 * @param children what the user can do with the secret.
 */
export function SecretDialog({
  shown,
  onClose,
  children,
}: {
  shown: ShownSecret | undefined;
  onClose: () => void;
  children?: ReactNode;
}) {
  const isAwaited = useIsMutating({ mutationKey: secretMutation.mutationKey }) > 0;
  useKeepPage(shown !== undefined || isAwaited, () => {
    if (shown === undefined) notifications.show({ id: 'secret-awaited', message: t.secretAwaited });
  });
  if (shown === undefined) return null;
  return (
    <Dialog
      key={shown.secret}
      onClose={onClose}
      title={shown.title}
      closeOnEscape={false}
      withCloseButton={false}
      size="lg"
    >
      <Stack>
        <Alert color="yellow" variant="light">
          {t.secretWarning}
        </Alert>
        <Code
          block
          tabIndex={0}
          role="textbox"
          aria-readonly
          aria-label={t.secretLabel(shown.name)}
          style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
        >
          {shown.secret}
        </Code>
        {children}
        <Group justify="space-between">
          <CopyTextButton text={shown.secret} size="sm" />
          <Button onClick={onClose}>{t.secretStored}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
