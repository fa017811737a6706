import { Loader } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { call } from '../../api/client.ts';
import { AnchorLink } from '../../shell/links.tsx';
import { texts } from '../../texts/index.ts';
import { AccountCard } from './account-card.tsx';

const t = texts.account;
const route = getRouteApi('/verify-email');

export function VerifyEmailPage() {
  const { token = '' } = route.useSearch();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const verify = useQuery({
    queryKey: ['verify-email', token],
    queryFn: () => call('/auth/verify-email', { query: { token } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => {
    if (!verify.isSuccess) return;
    queryClient.removeQueries({ queryKey: ['me'] });
    void navigate({ to: '/profile' });
  }, [verify.isSuccess, navigate, queryClient]);
  return (
    <AccountCard title={t.verifying} lead={verify.isError ? t.verifyFailed : undefined}>
      {verify.isError ? <AnchorLink to="/sign-in">{t.signIn}</AnchorLink> : <Loader />}
    </AccountCard>
  );
}
