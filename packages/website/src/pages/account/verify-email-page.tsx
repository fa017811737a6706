import type { AddressConfirmed } from '@leads/core/account';
import { Loader } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useEffect } from 'react';
import { acceptKeptInvitation } from '../../api/accept-invitation.ts';
import { ApiError } from '../../api/api-error.ts';
import { call } from '../../api/client.ts';
import { openPage } from '../../api/workspace-address.ts';
import { AnchorLink, ButtonLink } from '../../shell/links.tsx';
import { ErrorNotice } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { AccountCard } from './account-card.tsx';

const t = texts.account;
const route = getRouteApi('/verify-email');

export function VerifyEmailPage() {
  const { token = '' } = route.useSearch();
  const verify = useQuery({
    queryKey: ['verify-email', token],
    queryFn: () => call<AddressConfirmed>('/auth/verify-email', { query: { token } }),
    retry: false,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { next, passwordToken } = verify.data ?? {};
  useEffect(() => {
    if (next !== 'signedIn') return;
    void (async () => {
      const isAccepted = await acceptKeptInvitation();
      openPage(isAccepted ? '/' : '/profile');
    })();
  }, [next]);
  if (verify.isError) {
    const { error } = verify;
    const isRejected = error instanceof ApiError && error.status >= 400 && error.status < 500;
    if (!isRejected || error.status === 429) {
      return (
        <AccountCard title={t.verifying}>
          <ErrorNotice error={error} onRetry={() => void verify.refetch()} />
        </AccountCard>
      );
    }
    return (
      <AccountCard title={t.verifying} lead={t.verifyFailed}>
        <AnchorLink to="/sign-in">{t.signIn}</AnchorLink>
      </AccountCard>
    );
  }
  if (next === 'signIn') {
    return (
      <AccountCard title={t.verified}>
        <ButtonLink to="/sign-in">{t.signIn}</ButtonLink>
      </AccountCard>
    );
  }
  if (next === 'choosePassword') {
    return (
      <AccountCard title={t.verified} lead={t.verifiedElsewhere}>
        <ButtonLink to="/reset-password" search={passwordToken === undefined ? {} : { token: passwordToken }}>
          {t.choosePassword}
        </ButtonLink>
      </AccountCard>
    );
  }
  return (
    <AccountCard title={t.verifying}>
      <Loader />
    </AccountCard>
  );
}
