import type { OwnWorkspace } from '@leads/core/account';
import type { MemberRole } from '@leads/core/credential';
import { Alert, Button, Code, Group, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { fieldErrorsOf } from '../../api/client.ts';
import { invitationsQuery, inviteMember } from '../../api/members.ts';
import { CopyTextButton } from '../../shell/copy-text-button.tsx';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { QueryState } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { roleChoices } from './role-choices.ts';

const t = texts.members;

/** Invites a person, then shows the link of the invitation. */
export function InviteDialog({
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
  const query = useQuery(invitationsQuery);
  const invite = useMutation({
    mutationFn: ({ email, role }: { email: string; role: MemberRole }) =>
      inviteMember(workspace.id, email, role),
    onSuccess: onInvited,
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  const { email, role } = form.values;
  const made = invite.isSuccess
    ? query.data?.find((invitation) => invitation.email === email.trim().toLowerCase())
    : undefined;
  /** Whether the person is invited, but the link could not be loaded. */
  const isUnknown = invite.isSuccess && made === undefined && query.isError;
  const isMailed = invite.data?.mailed === true;
  const notMailed = mail ? t.notMailed : t.byHand;
  return (
    <Dialog onClose={onClose} title={made === undefined && !isUnknown ? t.invite : t.invitedTitle}>
      {isUnknown ? (
        <QueryState query={query} />
      ) : made === undefined ? (
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
