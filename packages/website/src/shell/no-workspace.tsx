import { Anchor, Button, List, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import type { Me } from '@leads/core/account';
import type { WorkspaceAnswer } from '@leads/core/workspace';
import { call, fieldErrorsOf } from '../api/client.ts';
import { addressInWorkspace, workspaceOfPage } from '../api/workspace-address.ts';
import * as texts from '../texts/index.ts';
import { useFormInput } from './discard-question.ts';
import { leaveWorkspacePage } from './workspace-reload.ts';
import { PageHeading } from './page-heading.tsx';
import { ErrorNotice } from './states.tsx';

const t = texts.common;

/** The page for users without a workspace, and for addresses of a workspace that the user is not a member of. */
export function NoWorkspace({ workspaces }: Pick<Me, 'workspaces'>) {
  if (workspaces.length > 0) return <UnknownWorkspace workspaces={workspaces} />;
  return (
    <Stack maw={420}>
      <Text>{texts.common.noWorkspace}</Text>
      <NewWorkspaceForm />
    </Stack>
  );
}

function UnknownWorkspace({ workspaces }: Pick<Me, 'workspaces'>) {
  return (
    <Stack maw={420}>
      <PageHeading title={t.unknownWorkspace} />
      <Text>{t.unknownWorkspaceLead(workspaceOfPage() ?? '')}</Text>
      <List aria-label={t.yourWorkspaces} listStyleType="none" spacing="xs">
        {workspaces.map(({ id, slug, name }) => (
          <List.Item key={id}>
            <Anchor href={addressInWorkspace(slug, '/overview')}>{name}</Anchor>
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}

export function NewWorkspaceForm() {
  const form = useForm({ initialValues: { name: '' } });
  useFormInput(form.isDirty());
  const create = useMutation({
    mutationFn: (body: { name: string }) =>
      leaveWorkspacePage(async () => {
        const { workspace } = await call<WorkspaceAnswer>('/console/workspaces', { method: 'POST', body });
        return addressInWorkspace(workspace.slug, '/overview');
      }),
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack>
        <TextInput
          label={texts.account.workspaceName}
          required
          maxLength={255}
          data-autofocus
          {...form.getInputProps('name')}
        />
        {create.isError && <ErrorNotice error={create.error} />}
        <Button type="submit" loading={create.isPending}>
          {texts.common.create}
        </Button>
      </Stack>
    </form>
  );
}
