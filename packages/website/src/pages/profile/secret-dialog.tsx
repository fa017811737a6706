import { Alert, Button, Code, Group, Stack } from '@mantine/core';
import { Dialog } from '../../shell/dialog.tsx';
import type { MadeCredential } from '../../api/credentials.ts';
import { CopyTextButton } from '../../shell/copy-text-button.tsx';
import { usePreventReload } from '../../shell/use-prevent-reload.ts';
import { texts } from '../../texts/index.ts';

const t = texts.profile;

/** Shows a secret once. It closes only when the user confirms that it is stored. */
export function SecretDialog({ made, onClose }: { made: MadeCredential | undefined; onClose: () => void }) {
  usePreventReload(made !== undefined);
  if (made === undefined) return null;
  return (
    <Dialog
      onClose={onClose}
      title={t.secretTitle[made.kind]}
      closeOnClickOutside={false}
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
          aria-label={t.secretLabel(made.name)}
          style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
        >
          {made.secret}
        </Code>
        <Group justify="space-between">
          <CopyTextButton text={made.secret} size="sm" />
          <Button onClick={onClose}>{t.secretStored}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
