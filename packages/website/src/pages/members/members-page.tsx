import type { OwnWorkspace } from '@leads/core/account';
import type { MemberRole } from '@leads/core/credential';
import type { MemberView } from '@leads/core/workspace';
import { Alert, Badge, Select, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { meQuery } from '../../api/account.ts';
import { changeRole, leaveWorkspace, membersQuery, removeMember } from '../../api/members.ts';
import { useState } from 'react';
import { ConfirmButton } from '../../shell/confirm-button.tsx';
import { ConfirmDialog } from '../../shell/confirm-dialog.tsx';
import { AnchorLink } from '../../shell/links.tsx';
import { PageHeading } from '../../shell/page-heading.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { RelativeTime } from '../../shell/relative-time.tsx';
import { leaveWorkspacePage } from '../../shell/workspace-reload.ts';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';
import { Invitations } from './invitations.tsx';
import { roleChoices } from './role-choices.ts';
import { WorkspaceForm } from './workspace-form.tsx';

const t = texts.members;
const { roles } = texts.common;

export function MembersPage() {
  const { workspace } = useSuspenseQuery(meQuery).data;
  // The layout shows this page only in a workspace.
  if (workspace === undefined) return null;
  return (
    <>
      <PageHeading title={t.title} />
      <Stack gap="xl" maw={1100}>
        {workspace.role === 'publisher' ? (
          <PublisherNotice workspace={workspace} />
        ) : (
          <Members workspace={workspace} />
        )}
        {workspace.role !== 'publisher' && (
          <Text size="sm">
            {t.credentialsElsewhere} <AnchorLink to="/developers">{t.credentials}</AnchorLink>
          </Text>
        )}
        {workspace.role === 'owner' && <Invitations workspace={workspace} />}
        {workspace.role === 'owner' && <WorkspaceForm workspace={workspace} />}
      </Stack>
    </>
  );
}

function PublisherNotice({ workspace }: { workspace: OwnWorkspace }) {
  return (
    <Alert variant="light" title={t.publisherTitle}>
      <Stack align="flex-start" gap="sm">
        <Text size="sm">{t.publisherLead}</Text>
        <LeaveButton workspace={workspace} />
      </Stack>
    </Alert>
  );
}

function LeaveButton({ workspace }: { workspace: OwnWorkspace }) {
  return (
    <ConfirmButton
      label={t.leave}
      title={t.leaveTitle}
      action={t.leave}
      onConfirm={() =>
        leaveWorkspacePage(async () => {
          await leaveWorkspace(workspace.id);
          return '/';
        })
      }
    >
      <Text size="sm">{t.leaveLead}</Text>
    </ConfirmButton>
  );
}

function Members({ workspace }: { workspace: OwnWorkspace }) {
  const queryClient = useQueryClient();
  const { user } = useSuspenseQuery(meQuery).data;
  const { data: members, error, refetch } = useQuery(membersQuery);
  const isOwner = workspace.role === 'owner';
  const change = useMutation({
    mutationFn: ({ id, role }: { id: string; role: MemberRole }) => changeRole(workspace.id, id, role),
    // The members are reloaded: a rejected change must not be shown, and a new role changes the user's permissions.
    onSettled: () => queryClient.invalidateQueries(),
  });
  /** A change of a role that gives or takes all rights, until it is confirmed. */
  const [asked, setAsked] = useState<{ readonly member: MemberView; readonly role: MemberRole }>();
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (members === undefined) return <PendingPage />;
  const owners = members.filter(({ role }) => role === 'owner').length;

  const roleOf = (member: MemberView, isOnlyOwner: boolean) => {
    if (!isOwner || isOnlyOwner) return <Badge variant="default">{roles[member.role]}</Badge>;
    return (
      <Select
        aria-label={t.roleOf(member.name)}
        size="xs"
        w={130}
        allowDeselect={false}
        data={roleChoices}
        value={change.isPending && change.variables.id === member.id ? change.variables.role : member.role}
        // Not disabled, because that would remove the focus.
        readOnly={change.isPending}
        onChange={(role) => {
          if (role === null) return;
          if (role === 'owner' || member.userId === user.id) setAsked({ member, role });
          else change.mutate({ id: member.id, role });
        }}
      />
    );
  };
  return (
    <Stack gap="xs">
      {change.isError && <ErrorNotice error={change.error} />}
      {asked !== undefined && (
        <ConfirmDialog
          title={asked.role === 'owner' ? t.ownerTitle(asked.member.name) : t.ownRoleTitle(roles[asked.role])}
          action={t.changeRole}
          onConfirm={() => change.mutateAsync({ id: asked.member.id, role: asked.role })}
          onClose={() => setAsked(undefined)}
        >
          <Text size="sm">{asked.role === 'owner' ? t.ownerLead : t.ownRoleLead}</Text>
        </ConfirmDialog>
      )}
      <RecordList label={t.title}>
        {members.map((member) => {
          const isMe = member.userId === user.id;
          const isOnlyOwner = member.role === 'owner' && owners === 1;
          return (
            <RecordRow
              key={member.id}
              title={
                <>
                  <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                    {member.name}
                  </Text>
                  {isMe && <Badge variant="light">{t.you}</Badge>}
                </>
              }
              facts={[
                [t.email, member.email],
                [t.since, <RelativeTime key="since" at={member.createdAt} />],
              ]}
              actions={
                <>
                  {roleOf(member, isOnlyOwner)}
                  {isMe && !isOnlyOwner && <LeaveButton workspace={workspace} />}
                  {!isMe && isOwner && (
                    <ConfirmButton
                      label={t.remove}
                      name={t.removeOf(member.name)}
                      title={t.removeTitle}
                      action={t.remove}
                      onConfirm={async () => {
                        await removeMember(workspace.id, member.id);
                        await queryClient.invalidateQueries({ queryKey: membersQuery.queryKey });
                      }}
                    >
                      <Text size="sm">{t.removeLead(member.name)}</Text>
                    </ConfirmButton>
                  )}
                </>
              }
            >
              {isMe && isOnlyOwner && (
                <Text size="xs" c="dimmed">
                  {t.onlyOwner}
                </Text>
              )}
            </RecordRow>
          );
        })}
      </RecordList>
    </Stack>
  );
}
