import type { OwnWorkspace } from '@leads/core/account';
import { Badge, Box, Button, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { meQuery } from '../../api/account.ts';
import { cancelInvitation, invitationsQuery } from '../../api/members.ts';
import { useCommands } from '../../shell/commands.ts';
import { ConfirmButton } from '../../shell/confirm-button.tsx';
import { CopyTextButton } from '../../shell/copy-text-button.tsx';
import { EmptyState, isActionAbove } from '../../shell/empty-state.tsx';
import { IconPlus } from '../../shell/icons.tsx';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { ExactTime } from '../../shell/relative-time.tsx';
import { QueryState } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';

const t = texts.members;

const InviteDialog = lazyDialog(async () => (await import('./invite-dialog.tsx')).InviteDialog);

/** The pending invitations, and the dialog to invite people. For owners. */
export function Invitations({ workspace }: { workspace: OwnWorkspace }) {
  const queryClient = useQueryClient();
  const { mail } = useSuspenseQuery(meQuery).data;
  const query = useQuery(invitationsQuery);
  const { data: invitations, error } = query;
  const [inviting, { open, close }] = useDisclosure(false);
  useCommands([{ label: t.invite, run: open }]);
  const reload = () => queryClient.invalidateQueries({ queryKey: invitationsQuery.queryKey });
  const invite = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      {t.invite}
    </Button>
  );
  return (
    <Stack component="section" gap="sm" aria-label={t.pending}>
      <Group justify="space-between">
        <Box flex="1 1 240px">
          <Title order={2} size="h4">
            {t.pending}
          </Title>
          <Text size="sm" c="dimmed">
            {mail ? t.linkFor : `${t.byHand} ${t.linkFor}`}
          </Text>
        </Box>
        {isActionAbove(invitations, error) && invite}
      </Group>
      <QueryState query={query} />
      {invitations?.length === 0 && <EmptyState text={t.noPending}>{invite}</EmptyState>}
      {invitations !== undefined && invitations.length > 0 && (
        <RecordList label={t.pending}>
          {invitations.map(({ id, email, role, link, expiresAt }) => (
            <RecordRow
              key={id}
              title={
                <>
                  <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                    {email}
                  </Text>
                  <Badge variant="default">{texts.common.roles[role]}</Badge>
                </>
              }
              facts={[[t.expires, <ExactTime key="expires" at={expiresAt} />]]}
              actions={
                <>
                  <CopyTextButton text={link} label={t.copyLink} />
                  <ConfirmButton
                    label={t.cancelInvitation}
                    name={t.cancelOf(email)}
                    title={t.cancelTitle}
                    action={t.cancelAction}
                    onConfirm={async () => {
                      await cancelInvitation(id);
                      await reload();
                    }}
                  >
                    <Text size="sm">{t.cancelLead}</Text>
                  </ConfirmButton>
                </>
              }
            >
              <Code style={{ overflowWrap: 'anywhere' }}>{link}</Code>
            </RecordRow>
          ))}
        </RecordList>
      )}
      {inviting && <InviteDialog workspace={workspace} mail={mail} onClose={close} onInvited={reload} />}
    </Stack>
  );
}
