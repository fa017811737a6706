import { type NewLeadFieldName, newLeadFieldNames } from '@leads/core/lead/fields';
import { Select, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { fieldErrorsOf } from '../../api/client.ts';
import { createLead } from '../../api/leads.ts';
import { campaignOption } from '../../shell/campaign-option.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { useIdempotencyKey } from '../../shell/use-idempotency-key.ts';
import { useActiveCampaigns } from '../../leads/active-campaigns.ts';
import * as texts from '../../texts/index.ts';
import { isNewLeadField, optionalFields } from '../../leads/contact-fields.ts';

const t = texts.leads;

const optional = optionalFields.filter(isNewLeadField);

const empty = {
  campaignCode: '',
  name: '',
  phone: '',
  ...(Object.fromEntries(newLeadFieldNames.map((name) => [name, ''])) as Record<NewLeadFieldName, string>),
};

/** A form that creates a lead. */
export function NewLeadDialog({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const { active, preferred = '', emptyText } = useActiveCampaigns();
  const [idempotencyKey, renewKey] = useIdempotencyKey();
  const form = useForm({ initialValues: empty, onValuesChange: renewKey });
  const create = useMutation({
    mutationFn: ({ campaignCode, ...values }: typeof empty) => {
      const code = campaignCode || preferred;
      const given = Object.entries(values).filter(([, value]) => value !== '');
      const lead = { name: '', phone: '', ...Object.fromEntries(given), campaignCode: code };
      return createLead({ ...lead, idempotencyKey });
    },
    onSuccess() {
      notifications.show({ message: t.created1 });
      onCreated();
    },
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  return (
    <Dialog onClose={onClose} title={t.newLead} size="lg">
      <form noValidate onSubmit={form.onSubmit((values) => create.mutate(values, { onSuccess: onClose }))}>
        <Stack>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
            <TextInput label={t.fields.name} required data-autofocus {...form.getInputProps('name')} />
            <TextInput label={t.fields.phone} required type="tel" {...form.getInputProps('phone')} />
            <Select
              label={t.campaign}
              required
              searchable
              allowDeselect={false}
              nothingFoundMessage={emptyText}
              data={active.map(campaignOption)}
              {...form.getInputProps('campaignCode')}
              value={form.values.campaignCode || preferred}
            />
            {optional.map((name) => (
              <TextInput
                key={name}
                label={t.fields[name]}
                {...(name === 'email' && { placeholder: t.emailHint })}
                {...form.getInputProps(name)}
              />
            ))}
          </SimpleGrid>
          <Textarea
            label={t.fields.description}
            autosize
            maxRows={6}
            {...form.getInputProps('description')}
          />
          <FormActions error={create.error} isPending={create.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
