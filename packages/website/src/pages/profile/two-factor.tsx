import { Badge, Button, Group, Text } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { meQuery } from '../../api/account.ts';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import * as texts from '../../texts/index.ts';

const t = texts.profile;

const EnableDialog = lazyDialog(async () => (await import('./two-factor-dialogs.tsx')).EnableDialog);
const DisableDialog = lazyDialog(async () => (await import('./two-factor-dialogs.tsx')).DisableDialog);
const CodesDialog = lazyDialog(async () => (await import('./two-factor-dialogs.tsx')).CodesDialog);

/** The second factor: turn it on or off, and create new recovery codes. */
export function TwoFactor() {
  const queryClient = useQueryClient();
  const { twoFactorEnabled } = useSuspenseQuery(meQuery).data.user;
  const [dialog, setDialog] = useState<'enable' | 'disable' | 'codes'>();
  const close = () => setDialog(undefined);
  const reload = () => queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
  return (
    <>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Badge variant="dot" color={twoFactorEnabled ? 'green' : 'gray'} flex="none">
          {twoFactorEnabled ? t.on : t.off}
        </Badge>
        <Text size="sm">{twoFactorEnabled ? t.twoFactorOn : t.twoFactorOff}</Text>
      </Group>
      <Group gap="xs">
        {twoFactorEnabled ? (
          <>
            <Button variant="default" onClick={() => setDialog('codes')}>
              {t.newRecoveryCodes}
            </Button>
            <Button variant="default" onClick={() => setDialog('disable')}>
              {t.disable}
            </Button>
          </>
        ) : (
          <Button onClick={() => setDialog('enable')}>{t.enable}</Button>
        )}
      </Group>
      {dialog === 'enable' && <EnableDialog onClose={close} onDone={reload} />}
      {dialog === 'disable' && <DisableDialog onClose={close} onDone={reload} />}
      {dialog === 'codes' && <CodesDialog onClose={close} />}
    </>
  );
}
