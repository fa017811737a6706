import type { EndpointKind, PostbackPreview, WebhookPreview } from '@leads/core/delivery';
import { Code, Fieldset, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldErrorsOf } from '../../api/client.ts';
import { previewQuery, type RenderedRequest } from '../../api/endpoints.ts';
import { newestLeadsQuery } from '../../api/leads.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { common } from '../../texts/common.ts';
import { endpoints as t } from '../../texts/endpoints.ts';
import { LeadSelect } from './lead-select.tsx';

/** The pause after the last change before the preview is requested, in milliseconds. */
const debounceMs = 300;

/** Returns the request for a lead, by default for the newest one, after each change of the settings. */
export function usePreview(
  kind: EndpointKind,
  settings: Omit<PostbackPreview, 'leadId'> | Omit<WebhookPreview, 'leadId'>,
) {
  const [leadId, setLeadId] = useState<string>();
  const { data: leads } = useQuery(newestLeadsQuery(''));
  // The newest lead stays chosen when another one arrives.
  const [newest, setNewest] = useState<string>();
  const first = leads?.[0]?.id;
  if (newest === undefined && first !== undefined) setNewest(first);
  const chosen = leadId ?? newest;
  const given = JSON.stringify({ ...settings, leadId: chosen });
  const [debounced] = useDebouncedValue(given, debounceMs);
  const request = JSON.parse(debounced) as PostbackPreview | WebhookPreview;
  const isReady = request.url !== '' && chosen !== undefined;
  const { data, error, refetch } = useQuery({ ...previewQuery(kind, request), enabled: isReady });
  return {
    hasLeads: leads?.length !== 0,
    chosen,
    setLeadId,
    hasUrl: settings.url !== '',
    request: isReady ? data : undefined,
    error: isReady ? error : null,
    refetch,
  };
}

/** Returns the text of a request. Only a webhook has `headers`; its body is JSON in one line. */
function textOf(request: RenderedRequest): string {
  const { method, url, body } = request;
  const head = `${method} ${url}`;
  if ('headers' in request) {
    const lines = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
    return [head, ...lines, '', JSON.stringify(JSON.parse(request.body), undefined, 2)].join('\n');
  }
  return body === undefined ? head : `${head}\ncontent-type: ${request.contentType}\n\n${body}`;
}

/** The lead of the preview, and the request for it. */
export function RequestPreview({
  preview,
  hint = t.previewLeadHint,
}: {
  preview: ReturnType<typeof usePreview>;
  hint?: string;
}) {
  const { hasLeads, chosen, setLeadId, hasUrl, request, error, refetch } = preview;
  const isFieldError = Object.keys(fieldErrorsOf(error)).length > 0;
  return (
    <Fieldset legend={t.preview}>
      <Stack gap="sm">
        {hasLeads || chosen !== undefined ? (
          <LeadSelect
            label={t.previewLead}
            description={hint}
            allowDeselect={false}
            value={chosen}
            onChange={setLeadId}
          />
        ) : (
          <Text size="sm">{t.noLeads}</Text>
        )}
        {request !== undefined ? (
          <Code
            block
            tabIndex={0}
            role="region"
            aria-label={t.preview}
            style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
          >
            {textOf(request)}
          </Code>
        ) : error !== null && !isFieldError ? (
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        ) : (
          chosen !== undefined && (
            <Text size="sm" c="dimmed">
              {error !== null ? t.previewFailed : hasUrl ? common.loading : t.previewEmpty}
            </Text>
          )
        )}
      </Stack>
    </Fieldset>
  );
}
