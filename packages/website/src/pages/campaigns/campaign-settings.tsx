import type { CampaignView } from '@leads/core/campaign';
import { Button, Fieldset, Group, MultiSelect, Paper, Stack, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { campaignsQuery, updateCampaign } from '../../api/campaigns.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { membersQuery } from '../../api/members.ts';
import { useFormInput } from '../../shell/discard-question.ts';
import { inert } from '../../shell/inert.ts';
import { PayoutInputs, usualCurrency } from '../../shell/payout-inputs.tsx';
import { assignableMembers, memberOption, withChosenMembers } from '../../shell/member-options.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { useFocusFault } from '../../shell/use-focus-fault.ts';
import { useStoredValues } from '../../shell/use-stored-values.ts';
import * as texts from '../../texts/index.ts';
import { DuplicateWindowInput } from './duplicate-window.tsx';
import { HoldTimeInput } from './hold-time.tsx';

const t = texts.campaigns;

const valuesOf = (campaign: CampaignView) => ({
  name: campaign.name,
  duplicateWindowSeconds: campaign.duplicateWindowSeconds ?? 0,
  approveAfterSeconds: campaign.approveAfterSeconds ?? 0,
  payout: campaign.payout ?? { amount: '', currency: usualCurrency },
  assigneeIds: campaign.assigneeIds ?? [],
});

/** The form of a campaign's name, duplicate window, hold time, payout and assignees. */
export function CampaignSettings({ campaign }: { campaign: CampaignView }) {
  const queryClient = useQueryClient();
  const { data: members = [] } = useQuery(membersQuery);
  const stored = valuesOf(campaign);
  const form = useForm({ initialValues: stored });
  const given = useStoredValues(form, stored);
  useFormInput(form.isDirty());
  const save = useMutation({
    mutationFn({ payout, ...values }: typeof form.values) {
      // Only changes are sent, because another user may have changed the other settings meanwhile.
      const changed = Object.fromEntries(Object.entries(values).filter(([name]) => form.isDirty(name)));
      const amount = payout.amount.trim();
      return updateCampaign(campaign.id, {
        ...changed,
        ...(form.isDirty('payout') && { payout: amount === '' ? null : { ...payout, amount } }),
      });
    },
    async onSuccess(_answer, values) {
      // What the user has changed during the request stays.
      form.resetDirty(values);
      notifications.show({ message: t.saved });
      await queryClient.invalidateQueries({ queryKey: campaignsQuery.queryKey });
    },
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  const part = useFocusFault(save.error);
  return (
    <Paper component="section" withBorder p="md" aria-label={t.settings}>
      <Title order={2} size="h4" mb="xs">
        {t.settings}
      </Title>
      <form
        onSubmit={form.onSubmit((values) => {
          if (form.isDirty()) save.mutate(values);
        })}
      >
        <Stack>
          <TextInput label={t.name} required maxLength={255} {...form.getInputProps('name')} />
          <TextInput label={t.code} description={t.codeFixed} value={campaign.code} readOnly />
          <DuplicateWindowInput
            key={`window ${given.duplicateWindowSeconds}`}
            value={form.values.duplicateWindowSeconds}
            onChange={(seconds) => form.setFieldValue('duplicateWindowSeconds', seconds)}
            error={form.errors['duplicateWindowSeconds']}
          />
          <HoldTimeInput
            key={`hold ${given.approveAfterSeconds}`}
            value={form.values.approveAfterSeconds}
            onChange={(seconds) => form.setFieldValue('approveAfterSeconds', seconds)}
            error={form.errors['approveAfterSeconds']}
          />
          <Fieldset legend={t.payout}>
            <PayoutInputs
              value={form.values.payout}
              onChange={(payout) => form.setFieldValue('payout', payout)}
              error={form.errors['payout']}
              description={t.payoutHint}
            />
          </Fieldset>
          <MultiSelect
            label={t.assignees}
            description={t.assigneesHint}
            data={withChosenMembers(
              assignableMembers(members).map(memberOption),
              form.values.assigneeIds,
              members,
            )}
            {...form.getInputProps('assigneeIds')}
          />
          {save.isError && Object.keys(fieldErrorsOf(save.error)).length === 0 && (
            <ErrorNotice error={save.error} />
          )}
          <Group ref={part} justify="flex-end">
            <Button type="submit" loading={save.isPending} {...inert(!form.isDirty())}>
              {texts.common.save}
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  );
}
