import type { OwnWorkspace } from '@leads/core/account';
import { Alert, Button, Group, Stack, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { meQuery } from '../../api/account.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { renameWorkspace } from '../../api/members.ts';
import { useFormInput } from '../../shell/discard-question.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { useFocusFault } from '../../shell/use-focus-fault.ts';
import { useStoredValues } from '../../shell/use-stored-values.ts';
import * as texts from '../../texts/index.ts';

const t = texts.members;

/** Renames the workspace. For owners. */
export function WorkspaceForm({ workspace }: { workspace: OwnWorkspace }) {
  const queryClient = useQueryClient();
  const stored = { name: workspace.name };
  const form = useForm({ initialValues: stored });
  useStoredValues(form, stored);
  useFormInput(form.isDirty());
  const rename = useMutation({
    mutationFn: ({ name }: { name: string }) => renameWorkspace(name),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: meQuery.queryKey }),
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  const part = useFocusFault(rename.error);
  return (
    <Stack component="section" gap="sm" aria-label={t.workspace} maw={520}>
      <Title order={2} size="h4">
        {t.workspace}
      </Title>
      <form onSubmit={form.onSubmit((values) => rename.mutate(values))}>
        <Stack gap="sm">
          <Group ref={part} align="flex-end" gap="xs">
            <TextInput
              label={t.workspaceName}
              required
              maxLength={255}
              flex="1 1 200px"
              {...form.getInputProps('name')}
            />
            <Button type="submit" variant="default" loading={rename.isPending}>
              {texts.common.save}
            </Button>
          </Group>
          {rename.isError && Object.keys(fieldErrorsOf(rename.error)).length === 0 && (
            <ErrorNotice error={rename.error} />
          )}
          {rename.isSuccess && (
            <Alert color="green" variant="light" role="status" p="xs">
              {texts.profile.saved}
            </Alert>
          )}
        </Stack>
      </form>
    </Stack>
  );
}
