import type { PostbackView } from '@leads/core/delivery';
import { personalMacros, postbackMacros } from '@leads/core/delivery/postback-template';
import type { LeadStatus } from '@leads/core/lead';
import {
  Anchor,
  Checkbox,
  Fieldset,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { campaignsQuery } from '../../api/campaigns.ts';
import { fieldErrorsOf } from '../../api/client.ts';
import { createPostback, endpointsKey, presetsQuery, updateEndpoint } from '../../api/endpoints.ts';
import { campaignOptions } from '../../shell/campaign-option.ts';
import { Dialog } from '../../shell/dialog.tsx';
import { FormActions } from '../../shell/form-actions.tsx';
import { QueryState } from '../../shell/states.tsx';
import { useMay } from '../../shell/use-may.ts';
import { endpoints } from '../../texts/endpoints.ts';
import * as texts from '../../texts/index.ts';
import { postbacks as t } from '../../texts/postbacks.ts';
import { inOrder, statuses } from '../../leads/lead-status.ts';
import { RequestPreview, usePreview } from './request-preview.tsx';
import { readMapping, type StatusMapping, writeMapping } from './status-mapping.ts';

/** The method, and with a body its format. */
type RequestKind = keyof typeof t.requests;
type Owner = PostbackView['owner'];

const requestKinds = Object.keys(t.requests) as RequestKind[];
const owners = Object.keys(t.owners) as Owner[];

interface PostbackForm {
  readonly owner: Owner;
  readonly preset: string;
  readonly url: string;
  readonly request: RequestKind;
  readonly body: string;
  readonly statuses: LeadStatus[];
  readonly campaignCode: string;
  readonly includesImports: boolean;
  readonly sendsWithoutS1: boolean;
  readonly answerContains: string;
  readonly description: string;
}

/** The fields of the API that are one request only together. */
const requestFields: ReadonlySet<string> = new Set(['method', 'bodyFormat', 'body']);

/** Returns the templates of a form. An empty body removes the body that a postback had. */
function templatesOf({ url, request, body }: Pick<PostbackForm, 'url' | 'request' | 'body'>) {
  return {
    url: url.trim(),
    method: request === 'GET' ? ('GET' as const) : ('POST' as const),
    ...(request === 'form' || request === 'json' ? { bodyFormat: request, body } : { body: '' }),
  };
}

/** Returns the errors by the field of the form. One field of the form has both the method and the format of the body. */
function errorsOf(error: unknown): Record<string, string> {
  const { method, bodyFormat, ...others } = fieldErrorsOf(error);
  const request = method ?? bodyFormat;
  return { ...others, ...(request !== undefined && { request }) };
}

/** Creates a postback, or changes the given one. A preview shows the request for a lead. */
export function PostbackDialog({ postback, onClose }: { postback?: PostbackView; onClose: () => void }) {
  const queryClient = useQueryClient();
  const { data: campaigns = [] } = useQuery(campaignsQuery);
  const ofPresets = useQuery(presetsQuery);
  const { data: presets = [] } = ofPresets;
  const isManager = useMay('manageEndpoints');
  const form = useForm<PostbackForm>({
    initialValues: {
      owner: postback?.owner ?? (isManager ? 'workspace' : 'user'),
      preset: '',
      url: postback?.url ?? '',
      request: postback?.bodyFormat ?? postback?.method ?? 'GET',
      body: postback?.body ?? '',
      statuses: postback?.statuses ?? ['Approved'],
      campaignCode: postback?.campaignCode ?? '',
      includesImports: postback?.includesImports ?? false,
      sendsWithoutS1: postback?.sendsWithoutS1 ?? false,
      answerContains: postback?.answerContains ?? '',
      description: postback?.description ?? '',
    },
  });
  const { owner, url, request, body } = form.values;
  const { body: template, ...templates } = templatesOf(form.values);
  // An empty body has no format.
  const hasTemplate = 'bodyFormat' in templates && template !== '';
  const preview = usePreview('postback', {
    owner,
    url: templates.url,
    method: templates.method,
    ...(hasTemplate && { body: template, bodyFormat: templates.bodyFormat }),
  });
  const save = useMutation({
    async mutationFn({ owner: chosen, preset: _preset, request: _request, ...fields }: PostbackForm) {
      const given = { ...fields, ...templatesOf({ ...fields, request: _request }) };
      if (postback === undefined) return createPostback({ ...given, owner: chosen });
      // Only changes are sent, because another user may have changed the other settings meanwhile.
      const isRequestChanged = form.isDirty('request') || form.isDirty('body');
      const changes = Object.fromEntries(
        Object.entries(given).filter(([name]) =>
          requestFields.has(name) ? isRequestChanged : form.isDirty(name),
        ),
      );
      return Object.keys(changes).length === 0 ? undefined : updateEndpoint('postback', postback.id, changes);
    },
    onSuccess: () => queryClient.invalidateQueries({ queryKey: endpointsKey }),
    onError(error) {
      const errors = errorsOf(error);
      form.setErrors(errors);
      // The field may be out of view, because the form is long.
      const [first] = Object.keys(errors);
      if (first !== undefined) form.getInputNode(first)?.focus();
    },
  });
  const preset = presets.find(({ id }) => id === form.values.preset);
  const hasBody = request === 'form' || request === 'json';
  const mapping = readMapping(url) ?? (hasBody ? readMapping(body) : undefined);
  const setMapping = (changed: StatusMapping) =>
    form.setValues({ url: writeMapping(url, changed), body: writeMapping(body, changed) });
  const macros = postbackMacros.filter(
    (name) => owner === 'workspace' || !personalMacros.some((personal) => personal === name),
  );
  /** The error of the last attempt to save, or of the preview. */
  const fieldProps = (name: 'url' | 'request' | 'body') => ({
    ...form.getInputProps(name),
    error: form.errors[name] ?? errorsOf(preview.error)[name],
  });

  return (
    <Dialog onClose={onClose} title={postback === undefined ? t.create : t.editTitle} size="lg">
      <form onSubmit={form.onSubmit((values) => save.mutate(values, { onSuccess: onClose }))}>
        <Stack>
          {isManager && postback === undefined && (
            <Select
              label={t.owner}
              data={owners.map((value) => ({ value, label: t.owners[value] }))}
              allowDeselect={false}
              {...form.getInputProps('owner')}
            />
          )}
          <Select
            label={t.preset}
            description={t.presetHint}
            placeholder={t.presetChoice}
            data={presets.map(({ id, name }) => ({ value: id, label: name }))}
            value={form.values.preset || null}
            onChange={(id) => {
              const chosen = presets.find((each) => each.id === id);
              form.setValues({
                preset: id ?? '',
                ...(chosen !== undefined && { url: chosen.url, statuses: chosen.statuses, request: 'GET' }),
              });
            }}
            clearable
            data-autofocus
          />
          {ofPresets.isError && <QueryState query={ofPresets} />}
          {preset !== undefined && (
            <Anchor size="sm" href={preset.documentation} target="_blank" rel="noreferrer">
              {t.documentation}
            </Anchor>
          )}
          <Textarea
            label={t.url}
            description={t.urlHint}
            required
            autosize
            minRows={2}
            {...fieldProps('url')}
          />
          <Text size="xs" c="dimmed">
            {t.macros}: {macros.map((name) => `{${name}}`).join(', ')}
            {owner === 'workspace' && ', {extra.<field>}'}
          </Text>
          <Select
            label={t.request}
            data={requestKinds.map((value) => ({ value, label: t.requests[value] }))}
            allowDeselect={false}
            {...fieldProps('request')}
          />
          {hasBody && (
            <Textarea
              label={t.body}
              description={t.bodyHints[request]}
              required
              autosize
              minRows={2}
              {...fieldProps('body')}
            />
          )}
          <Checkbox.Group label={t.statuses} {...form.getInputProps('statuses')}>
            <SimpleGrid cols={{ base: 2, xs: 4 }} mt="xs">
              {statuses.map((status) => (
                <Checkbox key={status} value={status} label={texts.leads.statuses[status]} />
              ))}
            </SimpleGrid>
          </Checkbox.Group>
          {mapping !== undefined && (
            <Fieldset legend={t.mapping}>
              <Text size="xs" c="dimmed" mb="xs">
                {t.mappingHint}
              </Text>
              <SimpleGrid cols={{ base: 1, xs: 2 }}>
                {inOrder(form.values.statuses).map((status) => (
                  <TextInput
                    key={status}
                    label={t.mappingOf(texts.leads.statuses[status])}
                    placeholder={status}
                    value={mapping[status] ?? ''}
                    onChange={(event) => setMapping({ ...mapping, [status]: event.currentTarget.value })}
                  />
                ))}
              </SimpleGrid>
            </Fieldset>
          )}
          <RequestPreview preview={preview} />
          <Select
            label={t.campaign}
            description={t.campaignHint}
            placeholder={t.every}
            data={campaignOptions(campaigns, form.values.campaignCode || undefined)}
            clearable
            searchable
            {...form.getInputProps('campaignCode')}
            value={form.values.campaignCode || null}
            onChange={(code) => form.setFieldValue('campaignCode', code ?? '')}
          />
          <Checkbox
            label={t.sendsWithoutS1}
            {...form.getInputProps('sendsWithoutS1', { type: 'checkbox' })}
          />
          <Checkbox
            label={endpoints.includesImports}
            {...form.getInputProps('includesImports', { type: 'checkbox' })}
          />
          <TextInput
            label={t.answerContains}
            description={t.answerContainsHint}
            maxLength={255}
            {...form.getInputProps('answerContains')}
          />
          <TextInput label={endpoints.description} maxLength={255} {...form.getInputProps('description')} />
          <FormActions
            submit={postback === undefined ? texts.common.create : texts.common.save}
            error={save.error}
            isPending={save.isPending}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
