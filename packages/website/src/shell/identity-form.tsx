import { Anchor, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { account, meQuery } from '../api/account.ts';
import { fieldErrorsOf } from '../api/client.ts';
import * as texts from '../texts/index.ts';
import { Dialog } from './dialog.tsx';
import { FormActions } from './form-actions.tsx';

const t = texts.common;

interface Props {
  /** Called when the user has confirmed their identity. */
  readonly onDone: () => void;
  /** Called when the user closes the dialog before that. */
  readonly onClose: () => void;
}

/** A dialog for the password or the second factor. */
export function IdentityFormDialog(props: Props) {
  return (
    <Dialog title={t.identityTitle} onClose={props.onClose}>
      <IdentityForm {...props} />
    </Dialog>
  );
}

function IdentityForm({ onDone, onClose }: Props) {
  const { user } = useSuspenseQuery(meQuery).data;
  const [byCode, setByCode] = useState(user.twoFactorEnabled);
  const form = useForm({ initialValues: { secret: '' } });
  const confirm = useMutation({
    mutationFn: (secret: string) =>
      byCode
        ? account('/two-factor/verify-totp', { code: secret.replaceAll(/\s/g, '') })
        : account('/confirm-password', { password: secret }),
    gcTime: 0,
    onError: (error) => form.setErrors({ secret: Object.values(fieldErrorsOf(error))[0] }),
  });
  return (
    <form onSubmit={form.onSubmit(({ secret }) => confirm.mutate(secret, { onSuccess: onDone }))}>
      <Stack>
        <Text size="sm">{t.identityLead}</Text>
        {byCode ? (
          <TextInput
            label={texts.account.code}
            autoComplete="one-time-code"
            inputMode="numeric"
            required
            data-autofocus
            {...form.getInputProps('secret')}
          />
        ) : (
          <PasswordInput
            label={texts.profile.currentPassword}
            autoComplete="current-password"
            required
            data-autofocus
            {...form.getInputProps('secret')}
          />
        )}
        {user.twoFactorEnabled && (
          <Anchor
            component="button"
            type="button"
            size="sm"
            onClick={() => {
              setByCode(!byCode);
              // The field for the code would show a typed password.
              form.reset();
              confirm.reset();
            }}
          >
            {byCode ? t.passwordInstead : texts.account.appInstead}
          </Anchor>
        )}
        <FormActions
          submit={t.confirm}
          error={confirm.error}
          isPending={confirm.isPending}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
