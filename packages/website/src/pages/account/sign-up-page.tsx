import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { acceptKeptInvitation, keepInvitation } from '../../api/accept-invitation.ts';
import { account, featuresQuery } from '../../api/account.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { openPage } from '../../api/workspace-address.ts';
import { AnchorLink } from '../../shell/links.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { AccountCard } from './account-card.tsx';

const t = texts.account;
const route = getRouteApi('/sign-up');

export function SignUpPage() {
  const { email = '', invitation, to } = route.useSearch();
  const { data: features, error: featuresError, refetch } = useQuery(featuresQuery);
  const form = useForm({ initialValues: { name: '', email, password: '' } });
  const signUp = useMutation({
    mutationFn: (body: object) =>
      account<{ signedIn: boolean }>('/sign-up/email', {
        ...body,
        ...(invitation !== undefined && { invitationId: invitation }),
      }),
    async onSuccess({ signedIn }) {
      // A sign-up from an invitation accepts it.
      if (invitation !== undefined) keepInvitation(invitation);
      // Otherwise the address must be confirmed first.
      if (!signedIn) return;
      // The back button can show this page again as it was left.
      form.setFieldValue('password', '');
      const isAccepted = await acceptKeptInvitation();
      openPage(isAccepted ? '/' : (to ?? '/'));
    },
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  const resend = useMutation({
    mutationFn: () => account('/send-verification-email', { email: form.values.email }),
  });

  if (featuresError !== null) {
    return (
      <AccountCard title={t.signUp}>
        <ErrorNotice error={featuresError} onRetry={() => void refetch()} />
      </AccountCard>
    );
  }
  if (features === undefined) return <PendingPage />;
  if (signUp.data?.signedIn === false) {
    return (
      <AccountCard title={t.checkMail} lead={t.checkMailLead}>
        <Button
          variant="default"
          loading={resend.isPending}
          disabled={resend.isSuccess}
          onClick={() => resend.mutate()}
        >
          {t.resend}
        </Button>
        {resend.isError && <ErrorNotice error={resend.error} />}
      </AccountCard>
    );
  }
  if (!features.signUp && invitation === undefined) {
    return (
      <AccountCard title={t.signUp} lead={t.signUpClosed}>
        <AnchorLink to="/sign-in">{t.signIn}</AnchorLink>
      </AccountCard>
    );
  }
  return (
    <AccountCard title={t.signUp} lead={invitation === undefined ? t.signUpLead : undefined}>
      <form onSubmit={form.onSubmit((values) => signUp.mutate(values))}>
        <Stack>
          <TextInput
            label={t.name}
            autoComplete="name"
            required
            autoFocus
            maxLength={255}
            {...form.getInputProps('name')}
          />
          <TextInput
            label={t.email}
            type="email"
            autoComplete="username"
            required
            readOnly={invitation !== undefined}
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label={t.password}
            description={t.passwordHint}
            autoComplete="new-password"
            required
            minLength={10}
            {...form.getInputProps('password')}
          />
          {signUp.isError && <ErrorNotice error={signUp.error} />}
          <Button type="submit" loading={signUp.isPending}>
            {t.signUp}
          </Button>
        </Stack>
      </form>
      <Text size="sm">
        {t.haveAccount}{' '}
        <AnchorLink to="/sign-in" search={{ ...(to !== undefined && { to }) }} size="sm">
          {t.signIn}
        </AnchorLink>
      </Text>
    </AccountCard>
  );
}
