import { Button, Code, Group, PasswordInput, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { type ReactNode, useState } from 'react';
import { encode } from 'uqr';
import { CopyTextButton } from '../../shell/copy-text-button.tsx';
import { download } from '../../shell/download.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { inert } from '../../shell/inert.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { useKeepPage } from '../../shell/use-keep-page.ts';
import * as texts from '../../texts/index.ts';
import { useAccountCall } from './use-account-call.ts';

const t = texts.profile;

interface DialogProps {
  readonly onClose: () => void;
  /** The change took effect; only the dialog is still open. */
  readonly onDone: () => Promise<unknown>;
}

export function EnableDialog({ onClose, onDone }: DialogProps) {
  const [made, setMade] = useState<{ totpURI: string; backupCodes: readonly string[] }>();
  const form = useForm({ initialValues: { code: '' } });
  const enable = useAccountCall('/two-factor/enable', { onSuccess: setMade });
  const verify = useAccountCall<unknown, { code: string }>('/two-factor/verify-totp', {
    onSuccess: onDone,
  });
  const totpSecret = made === undefined ? '' : (new URL(made.totpURI).searchParams.get('secret') ?? '');
  return (
    <Dialog onClose={onClose} title={t.enableTitle}>
      {made === undefined ? (
        <PasswordStep call={enable} action={t.continue} onClose={onClose} />
      ) : (
        <form
          onSubmit={form.onSubmit(({ code }) =>
            verify.mutate({ code: code.replaceAll(' ', '') }, { onSuccess: onClose }),
          )}
        >
          <Stack>
            <Text size="sm">{t.scan}</Text>
            <QrCode text={made.totpURI} />
            <Stack gap={4}>
              <Group justify="space-between">
                <Text size="sm" fw={500}>
                  {t.totpSecret}
                </Text>
                <CopyTextButton text={totpSecret} size="compact-xs" />
              </Group>
              <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
                {totpSecret}
              </Code>
            </Stack>
            <RecoveryCodes codes={made.backupCodes} />
            <TextInput
              label={t.codeToFinish}
              inputMode="numeric"
              autoComplete="one-time-code"
              required
              autoFocus
              {...form.getInputProps('code')}
            />
            {verify.isError && <ErrorNotice error={verify.error} />}
            <Actions onClose={onClose}>
              <Button type="submit" loading={verify.isPending}>
                {t.finish}
              </Button>
            </Actions>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}

export function DisableDialog({ onClose, onDone }: DialogProps) {
  const disable = useAccountCall('/two-factor/disable', { onSuccess: onDone });
  return (
    <Dialog onClose={onClose} title={t.disableTitle}>
      <PasswordStep
        call={disable}
        lead={t.disableLead}
        action={t.disable}
        color="red.9"
        onSuccess={onClose}
        onClose={onClose}
      />
    </Dialog>
  );
}

export function CodesDialog({ onClose }: Pick<DialogProps, 'onClose'>) {
  const [codes, setCodes] = useState<readonly string[]>();
  const generate = useAccountCall<{ backupCodes: readonly string[] }>('/two-factor/generate-backup-codes', {
    onSuccess: ({ backupCodes }) => setCodes(backupCodes),
  });
  // The codes are shown once. The earlier ones no longer work, perhaps already before the response.
  const canClose = codes === undefined && !generate.isPending;
  useKeepPage(!canClose);
  return (
    <Dialog onClose={onClose} title={t.newRecoveryCodes} closeOnEscape={canClose} withCloseButton={canClose}>
      {codes === undefined ? (
        <PasswordStep
          call={generate}
          lead={t.newRecoveryLead}
          action={t.continue}
          canClose={canClose}
          onClose={onClose}
        />
      ) : (
        <Stack>
          <RecoveryCodes codes={codes} />
          <Group justify="flex-end">
            <Button onClick={onClose}>{texts.common.secretStored}</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}

/** Asks for the password before the next step. */
function PasswordStep({
  call,
  lead,
  action,
  color,
  canClose = true,
  onSuccess,
  onClose,
}: {
  call: {
    mutate: (body: { password: string }, options?: { onSuccess?: () => void }) => void;
    isPending: boolean;
    error: Error | null;
  };
  lead?: string;
  action: string;
  color?: string;
  canClose?: boolean;
  /** Called if the dialog is still open. */
  onSuccess?: () => void;
  onClose: () => void;
}) {
  const form = useForm({ initialValues: { password: '' } });
  return (
    <form onSubmit={form.onSubmit((values) => call.mutate(values, onSuccess && { onSuccess }))}>
      <Stack>
        {lead !== undefined && <Text size="sm">{lead}</Text>}
        <PasswordInput
          label={t.currentPassword}
          autoComplete="current-password"
          required
          data-autofocus
          {...form.getInputProps('password')}
        />
        {call.error !== null && <ErrorNotice error={call.error} />}
        <Actions canClose={canClose} onClose={onClose}>
          <Button type="submit" loading={call.isPending} {...(color !== undefined && { color })}>
            {action}
          </Button>
        </Actions>
      </Stack>
    </form>
  );
}

function Actions({
  canClose = true,
  onClose,
  children,
}: {
  canClose?: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Group justify="flex-end">
      <Button variant="default" {...inert(!canClose)} onClick={() => canClose && onClose()}>
        {texts.common.cancel}
      </Button>
      {children}
    </Group>
  );
}

function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  useKeepPage(true);
  const text = `${codes.join('\n')}\n`;
  const downloadCodes = () => download(new Blob([text], { type: 'text/plain' }), 'recovery-codes.txt');
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        {t.recoveryCodes}
      </Text>
      <Text size="sm" c="dimmed">
        {t.recoveryLead}
      </Text>
      <SimpleGrid cols={2} spacing={4} aria-label={t.recoveryCodes} role="list">
        {codes.map((code) => (
          <Code key={code} role="listitem">
            {code}
          </Code>
        ))}
      </SimpleGrid>
      <Group gap="xs">
        <CopyTextButton text={text} />
        <Button variant="default" size="xs" onClick={downloadCodes}>
          {t.download}
        </Button>
      </Group>
    </Stack>
  );
}

/** Dark on light in both color schemes, because cameras expect it. */
function QrCode({ text }: { text: string }) {
  const { size, data } = encode(text, { ecc: 'M', border: 3 });
  const path = data
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join('');
  return (
    <svg
      role="img"
      aria-label={t.qrCode}
      viewBox={`0 0 ${size} ${size}`}
      width={200}
      height={200}
      shapeRendering="crispEdges"
      style={{ alignSelf: 'center', background: '#fff' }}
    >
      <path d={path} fill="#000" />
    </svg>
  );
}
