import { Button, Checkbox, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { account, featuresQuery } from '../../api/account.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { openPage } from '../../api/workspace-address.ts';
import { AnchorLink } from '../../shell/links.tsx';
import { ErrorNotice } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { AccountCard } from './account-card.tsx';
import { SecondFactorForm } from './second-factor-form.tsx';

const t = texts.account;
const route = getRouteApi('/sign-in');

export function SignInPage() {
  const { email = '', to } = route.useSearch();
  const { data: features } = useQuery(featuresQuery);
  const [needsCode, setNeedsCode] = useState(false);
  const form = useForm({ initialValues: { email, password: '', rememberMe: true } });

  const enter = async () => {
    // The back button can show this page again as it was left.
    form.setFieldValue('password', '');
    openPage(to ?? '/');
  };
  const signIn = useMutation({
    mutationFn: (body: object) => account<{ twoFactorRedirect?: boolean }>('/sign-in/email', body),
    async onSuccess({ twoFactorRedirect }) {
      if (twoFactorRedirect === true) setNeedsCode(true);
      else await enter();
    },
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });

  if (needsCode) {
    return (
      <AccountCard title={t.twoFactorTitle}>
        <SecondFactorForm onDone={enter} onBack={() => setNeedsCode(false)} />
      </AccountCard>
    );
  }
  return (
    <AccountCard title={t.signIn}>
      <form onSubmit={form.onSubmit((values) => signIn.mutate(values))}>
        <Stack>
          <TextInput
            label={t.email}
            type="email"
            autoComplete="username"
            required
            autoFocus
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label={t.password}
            autoComplete="current-password"
            required
            {...form.getInputProps('password')}
          />
          <Checkbox label={t.remember} {...form.getInputProps('rememberMe', { type: 'checkbox' })} />
          {signIn.isError && <ErrorNotice error={signIn.error} />}
          <Button type="submit" loading={signIn.isPending}>
            {t.signIn}
          </Button>
          <AnchorLink to="/forgot-password" size="sm">
            {t.forgot}
          </AnchorLink>
        </Stack>
      </form>
      {features?.signUp === true ? (
        <Text size="sm">
          {t.noAccount}{' '}
          <AnchorLink to="/sign-up" search={{ ...(to !== undefined && { to }) }} size="sm">
            {t.signUp}
          </AnchorLink>
        </Text>
      ) : null}
    </AccountCard>
  );
}
