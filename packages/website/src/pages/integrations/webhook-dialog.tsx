import type { WebhookShown, WebhookView } from '@leads/core/delivery';
import type { LeadEventType } from '@leads/core/event';
import type { LeadStatus } from '@leads/core/lead';
import { Checkbox, MultiSelect, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { campaignsQuery } from '../../api/campaigns.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { createWebhook, endpointsKey, updateEndpoint } from '../../api/endpoints.ts';
import { campaignOption } from '../../shell/campaign-option.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { secretMutation } from '../../shell/secret-dialog.tsx';
import { endpoints } from '../../texts/endpoints.ts';
import { focusRejected } from '../../shell/use-focus-fault.ts';
import * as texts from '../../texts/index.ts';
import { webhooks as t } from '../../texts/webhooks.ts';
import { parseHeaderLines } from './header-lines.ts';
import { RequestPreview, usePreview } from './request-preview.tsx';
import { statusOptions } from './status-options.ts';

const eventTypes = Object.keys(t.eventTypes) as LeadEventType[];

interface WebhookForm {
  readonly url: string;
  readonly description: string;
  readonly events: LeadEventType[];
  readonly statuses: LeadStatus[];
  readonly campaignCodes: string[];
  readonly includesImports: boolean;
  /** One header a line. */
  readonly headers: string;
  readonly removesHeaders: boolean;
}

/** Returns the headers to store in place of the stored ones. `undefined` as {@link parseHeaderLines}. */
const headersOf = ({ headers, removesHeaders }: WebhookForm) =>
  removesHeaders ? {} : parseHeaderLines(headers);

/** Creates a webhook, or changes the given one. A preview shows the request for a lead. */
export function WebhookDialog({
  webhook,
  onClose,
  onCreated,
}: {
  webhook?: WebhookView;
  onClose: () => void;
  onCreated?: (shown: WebhookShown) => void;
}) {
  const queryClient = useQueryClient();
  const { data: campaigns = [] } = useQuery(campaignsQuery);
  const form = useForm<WebhookForm>({
    initialValues: {
      url: webhook?.url ?? '',
      description: webhook?.description ?? '',
      events: webhook?.events ?? ['lead.created', 'lead.status_changed'],
      statuses: webhook?.statuses ?? [],
      campaignCodes: webhook?.campaignCodes ?? [],
      includesImports: webhook?.includesImports ?? false,
      headers: '',
      removesHeaders: false,
    },
    validate: { headers: (_text, values) => (headersOf(values) === undefined ? t.headerLine : null) },
  });
  const save = useMutation({
    ...(webhook === undefined && secretMutation),
    async mutationFn(values: WebhookForm) {
      const { headers: _lines, removesHeaders, ...body } = values;
      const headers = headersOf(values) ?? {};
      const replacesHeaders = removesHeaders || Object.keys(headers).length > 0;
      const given = { ...body, ...(replacesHeaders && { headers }) };
      if (webhook === undefined) return createWebhook(given);
      // Only changes are sent, because another user may have changed the other settings meanwhile.
      const changes = Object.fromEntries(
        Object.entries(given).filter(([name]) => name === 'headers' || form.isDirty(name)),
      );
      if (Object.keys(changes).length > 0) await updateEndpoint('webhook', webhook.id, changes);
      return undefined;
    },
    async onSuccess(shown) {
      const reloaded = queryClient.invalidateQueries({ queryKey: endpointsKey });
      // Not awaited: the secret would be lost if the user left the page while the list loads.
      if (shown !== undefined) onCreated?.(shown);
      else await reloaded;
    },
    onError: (error) => form.setErrors(fieldErrorsOf(error)),
  });
  const headerNames = webhook?.headerNames ?? [];
  const { url, removesHeaders } = form.values;
  const newNames = Object.keys(headersOf(form.values) ?? {});
  const preview = usePreview('webhook', {
    url: url.trim(),
    headerNames: removesHeaders ? [] : newNames.length > 0 ? newNames : headerNames,
  });
  const previewErrors = fieldErrorsOf(preview.error);
  return (
    <Dialog onClose={onClose} title={webhook === undefined ? t.create : t.editTitle} size="lg">
      <form
        onSubmit={form.onSubmit(
          (values) => save.mutate(values, { onSuccess: onClose }),
          focusRejected(save.reset),
        )}
      >
        <Stack>
          <TextInput
            label={t.url}
            description={t.urlHint}
            type="url"
            required
            data-autofocus
            {...form.getInputProps('url')}
            error={form.errors['url'] ?? previewErrors['url']}
          />
          <TextInput label={endpoints.description} maxLength={255} {...form.getInputProps('description')} />
          <Checkbox.Group label={t.events} {...form.getInputProps('events')}>
            <Stack gap="xs" mt="xs">
              {eventTypes.map((type) => (
                <Checkbox key={type} value={type} label={t.eventTypes[type]} description={type} />
              ))}
            </Stack>
          </Checkbox.Group>
          {form.values.events.includes('lead.status_changed') && (
            <MultiSelect
              label={t.statuses}
              placeholder={t.every}
              data={statusOptions}
              clearable
              {...form.getInputProps('statuses')}
            />
          )}
          <MultiSelect
            label={t.campaigns}
            placeholder={t.every}
            data={campaigns.map(campaignOption)}
            clearable
            searchable
            {...form.getInputProps('campaignCodes')}
          />
          <Checkbox
            label={endpoints.includesImports}
            {...form.getInputProps('includesImports', { type: 'checkbox' })}
          />
          <Textarea
            label={t.headers}
            description={headerNames.length === 0 ? t.headersHint : t.headersKept(headerNames.join(', '))}
            autosize
            minRows={2}
            disabled={form.values.removesHeaders}
            {...form.getInputProps('headers')}
            error={form.errors['headers'] ?? previewErrors['headerNames']}
          />
          {headerNames.length > 0 && (
            <Checkbox
              label={t.removeHeaders}
              {...form.getInputProps('removesHeaders', { type: 'checkbox' })}
            />
          )}
          <RequestPreview preview={preview} hint={t.previewHint} />
          <FormActions
            submit={webhook === undefined ? texts.common.create : texts.common.save}
            error={save.error}
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
