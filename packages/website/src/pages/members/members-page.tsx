import type { OwnWorkspace } from '@leads/core/account';
import { type MemberRole, may } from '@leads/core/credential/roles';
import type { MemberView } from '@leads/core/workspace';
import { Alert, Badge, Loader, Select, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { meQuery } from '../../api/account.ts';
import {
  changeRole,
  invitationsQuery,
  leaveWorkspace,
  membersQuery,
  removeMember,
} from '../../api/members.ts';
import { useState } from 'react';
import { ConfirmButton } from '../../shell/confirm-button.tsx';
import { LazyConfirmDialog } from '../../shell/lazy-confirm-dialog.tsx';
import { AnchorLink } from '../../shell/links.tsx';
import { PageHeading } from '../../shell/page-heading.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { ExactTime } from '../../shell/relative-time.tsx';
import { leaveWorkspacePage } from '../../shell/workspace-reload.ts';
import { ErrorNotice, QueryState } from '../../shell/states.tsx';
import { useMay } from '../../shell/use-may.ts';
import * as texts from '../../texts/index.ts';
import { Invitations } from './invitations.tsx';
import { roleChoices } from './role-choices.ts';
import { WorkspaceForm } from './workspace-form.tsx';

const t = texts.members;
const { roles } = texts.common;

export function MembersPage() {
  const { workspace } = useSuspenseQuery(meQuery).data;
  const readsMembers = useMay('readMembers');
  const managesMembers = useMay('manageMembers');
  const members = useQuery({ ...membersQuery, enabled: readsMembers });
  const invitations = useQuery({ ...invitationsQuery, enabled: managesMembers });
  // The layout shows this page only in a workspace.
  if (workspace === undefined) return null;
  return (
    <>
      <PageHeading title={t.title} />
      <Stack gap="xl" maw={1100}>
        {readsMembers ? <Members workspace={workspace} /> : <PublisherNotice workspace={workspace} />}
        {may(workspace.role, 'manageCredentials') && (
          <Text size="sm">
            {t.credentialsElsewhere} <AnchorLink to="/developers">{t.credentials}</AnchorLink>
          </Text>
        )}
        {/* A list that loads above a button would move it while a user clicks it. */}
        {!members.isLoading && managesMembers && <Invitations workspace={workspace} />}
        {!members.isLoading && !invitations.isLoading && may(workspace.role, 'renameWorkspace') && (
          <WorkspaceForm workspace={workspace} />
        )}
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

/** A new role of a member. */
interface Asked {
  readonly member: MemberView;
  readonly role: MemberRole;
}

function Members({ workspace }: { workspace: OwnWorkspace }) {
  const queryClient = useQueryClient();
  const { user } = useSuspenseQuery(meQuery).data;
  const query = useQuery(membersQuery);
  const { data: members } = query;
  const managesMembers = may(workspace.role, 'manageMembers');
  const change = useMutation({
    mutationFn: ({ id, role }: { id: string; role: MemberRole }) => changeRole(workspace.id, id, role),
    // The members are reloaded: a rejected change must not be shown, and a new role changes the user's permissions.
    onSettled: () => queryClient.invalidateQueries(),
  });
  /** A change that gives or takes the rights of an owner, until it is confirmed. */
  const [asked, setAsked] = useState<Asked>();
  if (members === undefined) return <QueryState query={query} />;
  const owners = members.filter(({ role }) => role === 'owner').length;

  const titleOf = ({ member, role }: Asked) => {
    if (role === 'owner') return t.ownerTitle(member.name);
    return member.userId === user.id
      ? t.ownRoleTitle(roles[role])
      : t.otherRoleTitle(member.name, roles[role]);
  };
  const leadOf = ({ member, role }: Asked) => {
    if (role === 'owner') return t.ownerLead;
    return member.userId === user.id ? t.ownRoleLead : t.otherRoleLead(member.name);
  };
  const roleOf = (member: MemberView, isOnlyOwner: boolean) => {
    if (!managesMembers || isOnlyOwner) return <Badge variant="default">{roles[member.role]}</Badge>;
    const isPending = change.isPending && change.variables.id === member.id;
    return (
      <Select
        aria-label={t.roleOf(member.name)}
        size="xs"
        w={130}
        allowDeselect={false}
        data={roleChoices}
        value={isPending ? change.variables.role : member.role}
        // Not disabled, because that would remove the focus.
        readOnly={change.isPending}
        aria-busy={isPending}
        {...(isPending && { rightSection: <Loader size={14} /> })}
        onChange={(role) => {
          if (role === null) return;
          if (role === 'owner' || member.role === 'owner') setAsked({ member, role });
          else change.mutate({ id: member.id, role });
        }}
      />
    );
  };
  return (
    <Stack component="section" gap="xs" aria-label={t.title}>
      {change.isError && asked === undefined ? (
        <ErrorNotice error={change.error} onRetry={() => change.mutate(change.variables)} />
      ) : (
        <QueryState query={query} />
      )}
      {asked !== undefined && (
        <LazyConfirmDialog
          title={titleOf(asked)}
          action={t.changeRole}
          onConfirm={() => change.mutateAsync({ id: asked.member.id, role: asked.role })}
          onClose={() => setAsked(undefined)}
        >
          <Text size="sm">{leadOf(asked)}</Text>
        </LazyConfirmDialog>
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
                  {isMe && <Badge variant="default">{t.you}</Badge>}
                </>
              }
              facts={[
                [t.email, member.email],
                [t.since, <ExactTime key="since" at={member.createdAt} />],
              ]}
              actions={
                <>
                  {roleOf(member, isOnlyOwner)}
                  {isMe && !isOnlyOwner && <LeaveButton workspace={workspace} />}
                  {!isMe && managesMembers && (
                    <ConfirmButton
                      label={t.remove}
                      name={t.removeOf(member.name)}
                      title={t.removeTitle}
                      action={t.remove}
                      onConfirm={async () => {
                        await removeMember(workspace.id, member.id);
                        // The credentials, the invitations and the assignments of the member end with the membership.
                        await queryClient.invalidateQueries();
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
