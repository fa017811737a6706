import { Button, Checkbox, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { CampaignView } from '@leads/core/campaign';
import { campaignsQuery, createCampaign, updateCampaign } from '../../api/campaigns.ts';
import { faultsOf } from '../../api/client.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { texts } from '../../texts/index.ts';
import { DuplicateWindowInput } from './duplicate-window.tsx';

const t = texts.campaigns;

export function NewCampaignDialog({ onClose }: { onClose: () => void }) {
  const queryClient = useQueryClient();
  const form = useForm({
    initialValues: { name: '', code: '', duplicateWindowSeconds: 0, isDefault: false },
  });
  const create = useMutation({
    mutationFn: createCampaign,
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: campaignsQuery.queryKey });
      onClose();
    },
    onError: (error) => form.setErrors(faultsOf(error)),
  });
  return (
    <Modal opened onClose={onClose} title={t.create}>
      <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
        <Stack>
          <TextInput label={t.name} required maxLength={255} data-autofocus {...form.getInputProps('name')} />
          <TextInput
            label={t.code}
            description={t.codeHint}
            required
            maxLength={255}
            {...form.getInputProps('code')}
          />
          <DuplicateWindowInput
            value={form.values.duplicateWindowSeconds}
            onChange={(seconds) => form.setFieldValue('duplicateWindowSeconds', seconds)}
            error={form.errors['duplicateWindowSeconds']}
          />
          <Checkbox label={t.makeDefaultToo} {...form.getInputProps('isDefault', { type: 'checkbox' })} />
          <Submit call={create} action={texts.common.create} onClose={onClose} />
        </Stack>
      </form>
    </Modal>
  );
}

export function EditCampaignDialog({ campaign, onClose }: { campaign: CampaignView; onClose: () => void }) {
  const queryClient = useQueryClient();
  const form = useForm({
    initialValues: {
      name: campaign.name,
      duplicateWindowSeconds: campaign.duplicateWindowSeconds ?? 0,
    },
  });
  const save = useMutation({
    mutationFn: (changes: { name: string; duplicateWindowSeconds: number }) =>
      updateCampaign(campaign.id, changes),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: campaignsQuery.queryKey });
      onClose();
    },
    onError: (error) => form.setErrors(faultsOf(error)),
  });
  return (
    <Modal opened onClose={onClose} title={t.editTitle}>
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack>
          <TextInput label={t.name} required maxLength={255} data-autofocus {...form.getInputProps('name')} />
          <TextInput label={t.code} value={campaign.code} readOnly />
          <DuplicateWindowInput
            value={form.values.duplicateWindowSeconds}
            onChange={(seconds) => form.setFieldValue('duplicateWindowSeconds', seconds)}
            error={form.errors['duplicateWindowSeconds']}
          />
          <Submit call={save} action={texts.common.save} onClose={onClose} />
        </Stack>
      </form>
    </Modal>
  );
}

/** The end of a form: what went wrong beyond its fields, and its two buttons. */
function Submit({
  call,
  action,
  onClose,
}: {
  call: { readonly error: Error | null; readonly isPending: boolean };
  action: string;
  onClose: () => void;
}) {
  return (
    <>
      {call.error !== null && Object.keys(faultsOf(call.error)).length === 0 && (
        <ErrorNotice error={call.error} />
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          {texts.common.cancel}
        </Button>
        <Button type="submit" loading={call.isPending}>
          {action}
        </Button>
      </Group>
    </>
  );
}
