import { Group, Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { CountInput } from '../shell/count-input.tsx';
import { Dialog } from '../shell/dialog.tsx';
import { fieldErrorsOf } from '../api/client.ts';
import { createAccessToken, type MadeCredential } from '../api/credentials.ts';
import { FormActions } from '../shell/form-actions.tsx';
import { secretMutation } from '../shell/secret-dialog.tsx';
import * as texts from '../texts/index.ts';

const t = texts.profile;
const daySeconds = 86_400;

interface AccessTokenForm {
  readonly name: string;
  /** Seconds, or `custom`. */
  readonly lifetime: string;
  readonly days: number;
}

export function AccessTokenDialog({
  onClose,
  onMade,
}: {
  onClose: () => void;
  onMade: (made: MadeCredential) => void;
}) {
  const form = useForm<AccessTokenForm>({ initialValues: { name: '', lifetime: '7776000', days: 7 } });
  const create = useMutation({
    ...secretMutation,
    mutationFn: ({ name, lifetime, days }: AccessTokenForm) =>
      createAccessToken({
        name,
        lifetimeSeconds: lifetime === 'custom' ? days * daySeconds : Number(lifetime),
      }),
    onSuccess: onMade,
    onError(error) {
      const { lifetimeSeconds, ...faults } = fieldErrorsOf(error);
      form.setErrors({ ...faults, ...(lifetimeSeconds !== undefined && { lifetime: lifetimeSeconds }) });
    },
  });
  return (
    <Dialog onClose={onClose} title={t.createAccessToken}>
      <form onSubmit={form.onSubmit((values) => create.mutate(values, { onSuccess: onClose }))}>
        <Stack>
          <TextInput
            label={t.name}
            placeholder={t.namePlaceholder}
            required
            maxLength={255}
            data-autofocus
            {...form.getInputProps('name')}
          />
          <Group grow align="flex-start">
            <Select
              label={t.lifetime}
              allowDeselect={false}
              data={Object.entries(t.lifetimes).map(([value, label]) => ({ value, label }))}
              {...form.getInputProps('lifetime')}
            />
            {form.values.lifetime === 'custom' && (
              <CountInput
                label={t.lifetimeDays}
                max={365}
                value={form.values.days}
                onChange={(days) => form.setFieldValue('days', days)}
              />
            )}
          </Group>
          <FormActions error={create.error} isPending={create.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
