import { Alert, Button, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { account, featuresQuery } from '../../api/account.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { AnchorLink } from '../../shell/links.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { AccountCard } from './account-card.tsx';

const t = texts.account;

export function ForgotPasswordPage() {
  const { data: features, error: featuresError, refetch } = useQuery(featuresQuery);
  const form = useForm({ initialValues: { email: '' } });
  const ask = useMutation({
    mutationFn: (body: object) => account('/request-password-reset', body),
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  if (featuresError !== null) {
    return (
      <AccountCard title={t.forgotTitle}>
        <ErrorNotice error={featuresError} onRetry={() => void refetch()} />
      </AccountCard>
    );
  }
  if (features === undefined) return <PendingPage />;
  return (
    <AccountCard title={t.forgotTitle} lead={features.mail ? t.forgotLead : t.forgotNoMail}>
      {features.mail && (
        <form onSubmit={form.onSubmit((values) => ask.mutate(values))}>
          <Stack>
            <TextInput
              label={t.email}
              type="email"
              autoComplete="username"
              required
              autoFocus
              {...form.getInputProps('email')}
            />
            {ask.isError && <ErrorNotice error={ask.error} />}
            {ask.isSuccess && (
              <Alert color="green" role="status">
                {t.linkSent}
              </Alert>
            )}
            <Button type="submit" loading={ask.isPending}>
              {t.sendLink}
            </Button>
          </Stack>
        </form>
      )}
      <AnchorLink to="/sign-in" size="sm">
        {t.signIn}
      </AnchorLink>
    </AccountCard>
  );
}
