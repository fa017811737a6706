import { Alert, Button, Checkbox, PasswordInput, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { account } from '../../api/account.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { AnchorLink } from '../../shell/links.tsx';
import { ErrorNotice } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { AccountCard } from './account-card.tsx';

const t = texts.account;
const route = getRouteApi('/reset-password');

export function ResetPasswordPage() {
  const { token } = route.useSearch();
  const form = useForm({ initialValues: { newPassword: '', revokeCredentials: false } });
  const reset = useMutation({
    mutationFn: (body: object) => account('/reset-password', { ...body, token }),
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  return (
    <AccountCard title={t.resetTitle} lead={token === undefined ? t.resetNoToken : undefined}>
      {reset.isSuccess ? (
        <Alert color="green" role="status">
          {t.resetDone}
        </Alert>
      ) : (
        token !== undefined && (
          <form onSubmit={form.onSubmit((values) => reset.mutate(values))}>
            <Stack>
              <PasswordInput
                label={t.newPassword}
                description={t.passwordHint}
                autoComplete="new-password"
                required
                autoFocus
                minLength={10}
                {...form.getInputProps('newPassword')}
              />
              <Checkbox
                label={texts.profile.revokeCredentials}
                description={texts.profile.revokeCredentialsHint}
                {...form.getInputProps('revokeCredentials', { type: 'checkbox' })}
              />
              {reset.isError && <ErrorNotice error={reset.error} />}
              <Button type="submit" loading={reset.isPending}>
                {texts.common.save}
              </Button>
            </Stack>
          </form>
        )
      )}
      <AnchorLink to="/sign-in" size="sm">
        {t.signIn}
      </AnchorLink>
    </AccountCard>
  );
}
