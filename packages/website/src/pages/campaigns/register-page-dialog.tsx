import type { CampaignView } from '@leads/core/campaign';
import { Select, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { createLandingPage } from '../../api/campaigns.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { refreshLandingPages } from '../../api/overview.ts';
import { landingPageCampaigns } from '../../shell/campaign-option.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import * as texts from '../../texts/index.ts';

const t = texts.campaigns;

/** Registers a landing page. */
export function RegisterPageDialog({
  campaigns,
  onClose,
}: {
  campaigns: readonly CampaignView[];
  onClose: () => void;
}) {
  const queryClient = useQueryClient();
  const form = useForm<{ name: string; campaignCode: string | null }>({
    initialValues: { name: '', campaignCode: null },
  });
  const register = useMutation({
    mutationFn: ({ name, campaignCode }: { name: string; campaignCode: string | null }) =>
      createLandingPage({ name, ...(campaignCode !== null && { campaignCode }) }),
    onSuccess: () => refreshLandingPages(queryClient),
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  return (
    <Dialog onClose={onClose} title={t.register}>
      <form onSubmit={form.onSubmit((values) => register.mutate(values, { onSuccess: onClose }))}>
        <Stack>
          <TextInput
            label={t.registerName}
            required
            maxLength={255}
            data-autofocus
            {...form.getInputProps('name')}
          />
          <Select
            label={t.campaign}
            placeholder={t.noCampaign}
            clearable
            searchable
            data={landingPageCampaigns(campaigns)}
            {...form.getInputProps('campaignCode')}
          />
          <FormActions error={register.error} isPending={register.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
