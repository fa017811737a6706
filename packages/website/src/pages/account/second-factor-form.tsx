import { Anchor, Button, Checkbox, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { account } from '../../api/account.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';

const t = texts.account;

/** Asks for the code of an authenticator app, or for a recovery code. */
export function SecondFactorForm({
  onDone,
  onBack,
}: {
  onDone: () => Promise<void>;
  /** Returns to the password, whose validity for the second factor ends after some minutes. */
  onBack: () => void;
}) {
  const [recovery, setRecovery] = useState(false);
  const form = useForm({ initialValues: { code: '', trustDevice: false } });
  const verify = useMutation({
    mutationFn: ({ code, trustDevice }: { code: string; trustDevice: boolean }) =>
      account(recovery ? '/two-factor/verify-backup-code' : '/two-factor/verify-totp', {
        // Apps show a code in groups of digits.
        code: code.replaceAll(/\s/g, ''),
        trustDevice,
      }),
    onSuccess: onDone,
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  return (
    <form onSubmit={form.onSubmit((values) => verify.mutate(values))}>
      <Stack>
        <TextInput
          key={String(recovery)}
          label={recovery ? t.recoveryCode : t.code}
          autoComplete="one-time-code"
          inputMode={recovery ? 'text' : 'numeric'}
          required
          autoFocus
          {...form.getInputProps('code')}
        />
        <Checkbox label={t.trustDevice} {...form.getInputProps('trustDevice', { type: 'checkbox' })} />
        {verify.isError && <ErrorNotice error={verify.error} />}
        <Button type="submit" loading={verify.isPending}>
          {t.verify}
        </Button>
        <Anchor
          component="button"
          type="button"
          size="sm"
          onClick={() => {
            setRecovery(!recovery);
            form.setFieldValue('code', '');
            verify.reset();
          }}
        >
          {recovery ? t.appInstead : t.recoveryInstead}
        </Anchor>
        <Anchor component="button" type="button" size="sm" onClick={onBack}>
          {t.passwordAgain}
        </Anchor>
      </Stack>
    </form>
  );
}
