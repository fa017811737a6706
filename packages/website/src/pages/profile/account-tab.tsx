import { Alert, Button, Checkbox, Paper, PasswordInput, Stack, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { meQuery } from '../../api/account.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { useFormInput } from '../../shell/discard-question.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { useStoredValues } from '../../shell/use-stored-values.ts';
import * as texts from '../../texts/index.ts';
import { TwoFactor } from './two-factor.tsx';
import { useAccountCall } from './use-account-call.ts';

const t = texts.profile;

export function AccountTab() {
  return (
    <Stack maw={520} gap="lg">
      <Section title={t.yourName}>
        <NameForm />
      </Section>
      <Section title={t.password}>
        <PasswordForm />
      </Section>
      <Section title={t.twoFactor}>
        <TwoFactor />
      </Section>
    </Stack>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper component="section" withBorder p="md" aria-label={title}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {children}
      </Stack>
    </Paper>
  );
}

function NameForm() {
  const queryClient = useQueryClient();
  const { user } = useSuspenseQuery(meQuery).data;
  const stored = { name: user.name };
  const form = useForm({ initialValues: stored });
  useStoredValues(form, stored);
  useFormInput(form.isDirty());
  const save = useAccountCall<unknown, { name: string }>('/update-user', {
    onSuccess: () => queryClient.invalidateQueries({ queryKey: meQuery.queryKey }),
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  return (
    <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack gap="sm">
        <TextInput
          label={t.yourName}
          autoComplete="name"
          required
          maxLength={255}
          {...form.getInputProps('name')}
        />
        <TextInput label={t.email} value={user.email} readOnly />
        {save.isError && <ErrorNotice error={save.error} />}
        {save.isSuccess && <Done>{t.saved}</Done>}
        <Button type="submit" variant="default" loading={save.isPending} style={{ alignSelf: 'flex-start' }}>
          {texts.common.save}
        </Button>
      </Stack>
    </form>
  );
}

function PasswordForm() {
  const queryClient = useQueryClient();
  const { user } = useSuspenseQuery(meQuery).data;
  const form = useForm({
    initialValues: {
      currentPassword: '',
      newPassword: '',
      revokeOtherSessions: true,
      revokeCredentials: false,
    },
  });
  useFormInput(form.isDirty());
  const change = useAccountCall('/change-password', {
    onSuccess() {
      form.reset();
      // The session, the keys and the tokens have changed.
      return queryClient.invalidateQueries();
    },
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  return (
    <form onSubmit={form.onSubmit((values) => change.mutate(values))}>
      <Stack gap="sm">
        {/* For password managers, which store the password under this name. */}
        <input type="text" autoComplete="username" value={user.email} readOnly hidden />
        <PasswordInput
          label={t.currentPassword}
          autoComplete="current-password"
          required
          {...form.getInputProps('currentPassword')}
        />
        <PasswordInput
          label={t.newPassword}
          description={t.passwordHint}
          autoComplete="new-password"
          required
          minLength={10}
          {...form.getInputProps('newPassword')}
        />
        <Checkbox
          label={t.signOutOthers}
          {...form.getInputProps('revokeOtherSessions', { type: 'checkbox' })}
        />
        <Checkbox
          label={t.revokeCredentials}
          description={t.revokeCredentialsHint}
          {...form.getInputProps('revokeCredentials', { type: 'checkbox' })}
        />
        {change.isError && <ErrorNotice error={change.error} />}
        {change.isSuccess && <Done>{t.passwordChanged}</Done>}
        <Button
          type="submit"
          variant="default"
          loading={change.isPending}
          style={{ alignSelf: 'flex-start' }}
        >
          {t.changePassword}
        </Button>
      </Stack>
    </form>
  );
}

function Done({ children }: { children: ReactNode }) {
  return (
    <Alert color="green" variant="light" role="status" p="xs">
      {children}
    </Alert>
  );
}
