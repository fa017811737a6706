import { Checkbox, Group, Radio, Select, Stack, TagsInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NewApiKey, SingleScope } from '@leads/core/credential';
import { campaignOption } from '../shell/campaign-option.ts';
import { Dialog } from '../shell/dialog.tsx';
import { campaignsQuery } from '../api/campaigns.ts';
import { fieldErrorsOf } from '../api/client.ts';
import { createApiKey, type MadeCredential } from '../api/credentials.ts';
import { DateInput } from '../shell/date-input.tsx';
import { FormActions } from '../shell/form-actions.tsx';
import { secretMutation } from '../shell/secret-dialog.tsx';
import { toIso } from '../shell/time.ts';
import { focusRejected } from '../shell/use-focus-fault.ts';
import * as texts from '../texts/index.ts';

const t = texts.profile;
const dayMs = 86_400_000;
const expiries = ['never', '30', '90', '365', 'date'] as const;
const scopes = ['full', 'intake', 'single'] as const;
const singleScopes = Object.keys(t.singleScope) as SingleScope[];

interface ApiKeyForm {
  readonly name: string;
  readonly expiry: (typeof expiries)[number];
  readonly expiryDate: string;
  readonly defaultCampaignCode: string | null;
  readonly scope: (typeof scopes)[number];
  readonly singleScopes: SingleScope[];
  readonly allowedOrigins: string[];
  readonly allowedNetworks: string[];
}

const empty: ApiKeyForm = {
  name: '',
  expiry: 'never',
  expiryDate: '',
  defaultCampaignCode: null,
  scope: 'full',
  singleScopes: [],
  allowedOrigins: [],
  allowedNetworks: [],
};

/** Returns the expiry of a new key. A date ends at midnight of the user's time zone. */
function expiryOf({ expiry, expiryDate }: ApiKeyForm): Date | undefined {
  if (expiry === 'never') return undefined;
  if (expiry === 'date') return new Date(`${expiryDate}T23:59:59`);
  return new Date(Date.now() + Number(expiry) * dayMs);
}

/** Returns whether the key is for web pages, whose visitors have any address. */
function isForPages({ scope, allowedOrigins }: ApiKeyForm): boolean {
  return scope === 'intake' && allowedOrigins.length > 0;
}

function bodyOf(values: ApiKeyForm): NewApiKey {
  const expiresAt = expiryOf(values);
  return {
    name: values.name,
    scope: values.scope === 'single' ? values.singleScopes : values.scope,
    ...(expiresAt !== undefined && { expiresAt: toIso(expiresAt) }),
    ...(values.defaultCampaignCode !== null && { defaultCampaignCode: values.defaultCampaignCode }),
    ...(values.scope === 'intake' && { allowedOrigins: values.allowedOrigins }),
    ...(!isForPages(values) && { allowedNetworks: values.allowedNetworks }),
  };
}

/** @param forPages creates a key for web pages: for the intake only, with at least one origin. */
export function ApiKeyDialog({
  forPages = false,
  onClose,
  onMade,
}: {
  forPages?: boolean;
  onClose: () => void;
  onMade: (made: MadeCredential) => void;
}) {
  const { data: campaigns = [] } = useQuery(campaignsQuery);
  const form = useForm<ApiKeyForm>({
    initialValues: forPages ? { ...empty, scope: 'intake' } : empty,
    validate: {
      allowedOrigins: (origins) => (forPages && origins.length === 0 ? t.originsNeeded : null),
    },
  });
  const create = useMutation({
    ...secretMutation,
    mutationFn: (values: ApiKeyForm) => createApiKey(bodyOf(values)),
    onSuccess: onMade,
    onError(error) {
      const { expiresAt, scope: ofScope, ...faults } = fieldErrorsOf(error);
      const field = form.values.expiry === 'date' ? 'expiryDate' : 'expiry';
      form.setErrors({
        ...faults,
        ...(expiresAt !== undefined && { [field]: expiresAt }),
        ...(ofScope !== undefined && { singleScopes: ofScope }),
      });
    },
  });
  const { expiry, scope } = form.values;
  // The origin is added when its field loses the focus. A field that is hidden only then moves the button under a click.
  const [typedOrigin, setTypedOrigin] = useState('');
  const isPageKey = isForPages(form.values) || (scope === 'intake' && typedOrigin.trim() !== '');
  const listInput = (field: 'allowedOrigins' | 'allowedNetworks', description: string) => (
    <TagsInput
      label={t[field]}
      description={description}
      withAsterisk={forPages}
      placeholder={t.listPlaceholder}
      acceptValueOnBlur
      {...(field === 'allowedOrigins' && { onSearchChange: setTypedOrigin })}
      {...form.getInputProps(field)}
    />
  );
  return (
    <Dialog onClose={onClose} title={forPages ? t.createPageKey : t.createApiKey}>
      <form
        onSubmit={form.onSubmit(
          (values) => create.mutate(values, { onSuccess: onClose }),
          focusRejected(create.reset),
        )}
      >
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
              label={t.expiry}
              allowDeselect={false}
              data={expiries.map((value) => ({ value, label: t.expiries[value] }))}
              {...form.getInputProps('expiry')}
            />
            {expiry === 'date' && (
              <DateInput label={t.expiryDate} required {...form.getInputProps('expiryDate')} />
            )}
          </Group>
          <Select
            label={t.defaultCampaign}
            description={t.campaignHint}
            placeholder={t.campaignOfWorkspace}
            clearable
            searchable
            data={campaigns.filter(({ status }) => status === 'active').map(campaignOption)}
            {...form.getInputProps('defaultCampaignCode')}
          />
          {!forPages && (
            <Radio.Group label={t.scope} {...form.getInputProps('scope')}>
              <Stack gap="xs" mt="xs">
                {scopes.map((value) => {
                  const [label, description] = t.scopeChoices[value];
                  return <Radio key={value} value={value} label={label} description={description} />;
                })}
              </Stack>
            </Radio.Group>
          )}
          {scope === 'single' && (
            <Checkbox.Group label={t.singleScopes} {...form.getInputProps('singleScopes')}>
              <Stack gap="xs" mt="xs">
                {singleScopes.map((value) => (
                  <Checkbox
                    key={value}
                    value={value}
                    label={value}
                    description={t.singleScope[value]}
                    aria-invalid={form.errors['singleScopes'] !== undefined}
                  />
                ))}
              </Stack>
            </Checkbox.Group>
          )}
          {scope === 'intake' && listInput('allowedOrigins', forPages ? t.pageOriginsHint : t.originsHint)}
          {!forPages && !isPageKey && listInput('allowedNetworks', t.networksHint)}
          <FormActions error={create.error} isPending={create.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
