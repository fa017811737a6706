import type { LeadStatus, StatusAlias } from '@leads/core/lead';
import { Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { fieldErrorsOf } from '../../api/client.ts';
import { changeStatusAliases, statusAliasesQuery } from '../../api/status-aliases.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { UserError } from '../../shell/user-error.ts';
import * as texts from '../../texts/index.ts';
import { statusAliases as t } from '../../texts/status-aliases.ts';
import { statusOptions } from './status-options.ts';

interface AliasForm {
  readonly alias: string;
  readonly status: LeadStatus;
  readonly reason: string;
}

/** Creates a status alias, or changes the given one. */
export function StatusAliasDialog({
  edited,
  onSaved,
  onClose,
}: {
  edited?: StatusAlias;
  onSaved: (aliases: readonly StatusAlias[]) => void;
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const form = useForm<AliasForm>({
    initialValues: {
      alias: edited?.alias ?? '',
      status: edited?.status ?? 'Approved',
      reason: edited?.reason ?? '',
    },
  });
  const save = useMutation({
    mutationFn: (values: AliasForm) =>
      changeStatusAliases((all) => {
        const stored = all.find(({ alias }) => alias === edited?.alias);
        if (edited !== undefined && stored === undefined) throw new UserError(t.gone, t.goneStep);
        // Only what the user has changed, because another user may have changed the other values meanwhile.
        const changed = Object.fromEntries(Object.entries(values).filter(([name]) => form.isDirty(name)));
        const { alias, status, reason } = { ...values, reason: '', ...stored, ...changed };
        const entered = {
          alias: alias.trim(),
          status,
          ...(reason.trim() !== '' && { reason: reason.trim() }),
        };
        return [...all.filter((each) => each !== stored), entered];
      }),
    onSuccess: onSaved,
    // The API names the list. The other aliases in it are valid, and the form limits the other fields.
    onError(error) {
      form.setErrors({ alias: fieldErrorsOf(error)['aliases'] });
      if (error instanceof UserError) {
        void queryClient.invalidateQueries({ queryKey: statusAliasesQuery.queryKey });
      }
    },
  });
  return (
    <Dialog onClose={onClose} title={edited === undefined ? t.create : t.editTitle}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values, { onSuccess: onClose }))}>
        <Stack>
          <TextInput
            label={t.alias}
            description={t.aliasHint}
            required
            maxLength={64}
            data-autofocus
            {...form.getInputProps('alias')}
          />
          <Select
            label={t.status}
            data={statusOptions}
            allowDeselect={false}
            {...form.getInputProps('status')}
          />
          <TextInput
            label={t.reason}
            description={t.reasonHint}
            maxLength={1000}
            {...form.getInputProps('reason')}
          />
          <FormActions
            {...(edited !== undefined && { submit: texts.common.save })}
            error={save.error}
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
