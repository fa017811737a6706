import { Alert, Checkbox, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Dialog } from '../../shell/dialog.tsx';
import { campaignsQuery, createCampaign } from '../../api/campaigns.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { FormActions } from '../../shell/form-actions.tsx';
import { focusRejected } from '../../shell/use-focus-fault.ts';
import * as texts from '../../texts/index.ts';
import { DuplicateWindowInput } from './duplicate-window.tsx';

const t = texts.campaigns;

export function NewCampaignDialog({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient();
  const form = useForm({
    initialValues: { name: '', code: '', duplicateWindowSeconds: 0, isDefault: false },
    // The API accepts spaces in codes. Here they are most likely a mistake, which could not be corrected.
    validate: { code: (code) => (/\s/.test(code) ? t.codeSpaces : null) },
  });
  const { data: campaigns = [] } = useQuery(campaignsQuery);
  const code = form.values.code.trim();
  const similar = campaigns.find(
    (each) => each.code !== code && each.code.toLowerCase() === code.toLowerCase(),
  );
  const create = useMutation({
    mutationFn: createCampaign,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: campaignsQuery.queryKey }),
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  return (
    <Dialog onClose={onClose} title={t.create}>
      <form
        onSubmit={form.onSubmit(
          (values) => create.mutate(values, { onSuccess: onClose }),
          focusRejected(create.reset),
        )}
      >
        <Stack>
          <TextInput label={t.name} required maxLength={255} data-autofocus {...form.getInputProps('name')} />
          <TextInput
            label={t.code}
            description={t.codeHint}
            required
            maxLength={255}
            {...form.getInputProps('code')}
          />
          {similar !== undefined && (
            <Alert color="yellow" variant="light" role="status">
              {t.similarCode(similar.code)}
            </Alert>
          )}
          <DuplicateWindowInput
            value={form.values.duplicateWindowSeconds}
            onChange={(seconds) => form.setFieldValue('duplicateWindowSeconds', seconds)}
            error={form.errors['duplicateWindowSeconds']}
          />
          <Checkbox label={t.makeDefaultToo} {...form.getInputProps('isDefault', { type: 'checkbox' })} />
          <FormActions error={create.error} isPending={create.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
