import type { OwnWorkspace } from '@leads/core/account';
import type { MemberRole } from '@leads/core/credential';
import { Alert, Badge, Box, Button, Code, Group, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { meQuery } from '../../api/account.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { cancelInvitation, invitationsQuery, inviteMember } from '../../api/members.ts';
import { useCommands } from '../../shell/commands.ts';
import { ConfirmButton } from '../../shell/confirm-button.tsx';
import { CopyTextButton } from '../../shell/copy-text-button.tsx';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { EmptyState, isActionAbove } from '../../shell/empty-state.tsx';
import { IconPlus } from '../../shell/icons.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { RelativeTime } from '../../shell/relative-time.tsx';
import { QueryState } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { roleChoices } from './role-choices.ts';

const t = texts.members;

/** The pending invitations, and the form to invite people. For owners. */
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
              facts={[[t.expires, <RelativeTime key="expires" at={expiresAt} />]]}
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

function InviteDialog({
  workspace,
  mail,
  onClose,
  onInvited,
}: {
  workspace: OwnWorkspace;
  mail: boolean;
  onClose: () => void;
  onInvited: () => Promise<unknown>;
}) {
  const form = useForm<{ email: string; role: MemberRole }>({
    initialValues: { email: '', role: 'publisher' },
  });
  const { data: invitations } = useQuery(invitationsQuery);
  const invite = useMutation({
    mutationFn: ({ email, role }: { email: string; role: MemberRole }) =>
      inviteMember(workspace.id, email, role),
    onSuccess: onInvited,
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  const { email, role } = form.values;
  const made = invite.isSuccess
    ? invitations?.find((invitation) => invitation.email === email.trim().toLowerCase())
    : undefined;
  const isMailed = invite.data?.mailed === true;
  const notMailed = mail ? t.notMailed : t.byHand;
  return (
    <Dialog onClose={onClose} title={made === undefined ? t.invite : t.invitedTitle}>
      {made === undefined ? (
        <form onSubmit={form.onSubmit((values) => invite.mutate({ ...values, email: values.email.trim() }))}>
          <Stack>
            <TextInput
              label={t.email}
              type="email"
              required
              maxLength={255}
              data-autofocus
              {...form.getInputProps('email')}
            />
            <Select
              label={t.role}
              description={t.roleHints[role]}
              allowDeselect={false}
              data={roleChoices}
              {...form.getInputProps('role')}
            />
            <FormActions
              submit={t.sendInvitation}
              error={invite.error}
              isPending={invite.isPending}
              onCancel={onClose}
            />
          </Stack>
        </form>
      ) : (
        <Stack>
          <Alert variant="light" color={isMailed ? 'green' : 'yellow'} role="status">
            {isMailed ? t.invitedMail(made.email) : notMailed} {t.linkFor}
          </Alert>
          <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {made.link}
          </Code>
          <Group justify="space-between">
            <CopyTextButton text={made.link} label={t.copyLink} size="sm" />
            <Button onClick={onClose}>{texts.common.close}</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
  );
}
