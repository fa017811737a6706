import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { account } from '../api/account.ts';
import { call, fieldErrorsOf } from '../api/client.ts';
import { texts } from '../texts/index.ts';
import { changeWorkspace } from './workspace-reload.ts';
import { ErrorNotice } from './states.tsx';

/** The page for users without a workspace. */
export function NoWorkspace() {
  return (
    <Stack maw={420}>
      <Text>{texts.common.noWorkspace}</Text>
      <NewWorkspaceForm />
    </Stack>
  );
}

export function NewWorkspaceForm() {
  const form = useForm({ initialValues: { name: '' } });
  const create = useMutation({
    mutationFn: (body: { name: string }) =>
      changeWorkspace(async () => {
        const { workspace } = await call<{ workspace: { id: string } }>('/console/workspaces', {
          method: 'POST',
          body,
        });
        await account('/organization/set-active', { organizationId: workspace.id });
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
