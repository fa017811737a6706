import type { Me } from '@leads/core/account';
import type { MemberRole } from '@leads/core/credential';
import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { acceptInvitation } from '../../api/accept-invitation.ts';
import { account } from '../../api/account.ts';
import { ApiError } from '../../api/api-error.ts';
import { call, fetchAnswer, readError } from '../../api/client.ts';
import { openPage } from '../../api/workspace-address.ts';
import { AnchorLink, ButtonLink } from '../../shell/links.tsx';
import { ErrorNotice, PendingPage, QueryState } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { AccountCard } from './account-card.tsx';

const t = texts.account;
const route = getRouteApi('/invitations/$id');

interface Invitation {
  readonly workspace: string;
  readonly inviter: string;
  readonly email: string;
  readonly role: MemberRole;
}

export function InvitationPage() {
  const { id } = route.useParams();
  const queryClient = useQueryClient();
  const invitation = useQuery({
    queryKey: ['invitation', id],
    queryFn: () => call<Invitation>(`/console/invitations/${encodeURIComponent(id)}`),
    retry: false,
  });
  // Not the query of the website's pages, which redirects visitors without a session.
  const me = useQuery({
    queryKey: ['me', 'optional'],
    async queryFn() {
      const response = await fetchAnswer('/api/console/me', { method: 'GET' });
      if (response.status === 401) return null;
      if (!response.ok) throw await readError('/console/me', response);
      return (await response.json()) as Me;
    },
  });
  const answer = useMutation({
    mutationFn: (accepts: boolean) =>
      accepts ? acceptInvitation(id) : account('/organization/reject-invitation', { invitationId: id }),
    onSuccess: () => openPage('/'),
    // It may have been answered in another tab, or canceled.
    onError: () => void invitation.refetch(),
  });
  const signOut = useMutation({
    mutationFn: () => account('/sign-out'),
    onSuccess: () => queryClient.resetQueries(),
  });

  const isGone = invitation.error instanceof ApiError && invitation.error.status === 404;
  const isLoaded = invitation.data !== undefined && me.data !== undefined;
  const query = invitation.isError ? invitation : me;
  if (isGone || (query.isError && !isLoaded)) {
    return (
      <AccountCard title={t.invitationUnavailable}>
        {isGone ? <Text>{t.invitationGone}</Text> : <QueryState query={query} />}
        {me.data === null && <AnchorLink to="/sign-in">{t.signIn}</AnchorLink>}
        {me.data && <AnchorLink to="/overview">{texts.common.backHome}</AnchorLink>}
      </AccountCard>
    );
  }
  if (!isLoaded) return <PendingPage />;
  const { workspace, inviter, email, role } = invitation.data;
  const here = `/invitations/${id}`;
  return (
    <AccountCard
      title={t.invitationTitle(workspace)}
      lead={t.invitationLead(inviter, texts.common.roles[role])}
    >
      <Stack>
        <QueryState query={query} />
        <Text size="sm">
          {me.data === null
            ? t.invitationForNew(email)
            : me.data.user.email === email
              ? t.invitationFor(email)
              : t.invitationOther(me.data.user.email)}
        </Text>
        {me.data === null && (
          <Group>
            <ButtonLink to="/sign-up" search={{ email, invitation: id, to: here }}>
              {t.signUp}
            </ButtonLink>
            <ButtonLink to="/sign-in" search={{ email, to: here }} variant="default">
              {t.signIn}
            </ButtonLink>
          </Group>
        )}
        {me.data !== null && me.data.user.email !== email && (
          <Group>
            <Button variant="default" loading={signOut.isPending} onClick={() => signOut.mutate()}>
              {texts.common.signOut}
            </Button>
          </Group>
        )}
        {me.data?.user.email === email && (
          <Group>
            <Button loading={answer.isPending} onClick={() => answer.mutate(true)}>
              {t.accept}
            </Button>
            <Button variant="default" disabled={answer.isPending} onClick={() => answer.mutate(false)}>
              {t.decline}
            </Button>
          </Group>
        )}
        {answer.isError && <ErrorNotice error={answer.error} />}
        {signOut.isError && <ErrorNotice error={signOut.error} />}
      </Stack>
    </AccountCard>
  );
}
