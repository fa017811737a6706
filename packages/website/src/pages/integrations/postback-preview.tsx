import type { PostbackPreview as Preview } from '@leads/core/delivery';
import { Code, Fieldset, Select, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldErrorsOf } from '../../api/client.ts';
import { previewQuery } from '../../api/endpoints.ts';
import { newestLeadsQuery } from '../../api/leads.ts';
import { ErrorNotice } from '../../shell/states.tsx';
import { texts } from '../../texts/index.ts';
import { postbacks as t } from '../../texts/postbacks.ts';
import { statusOf } from '../leads/lead-status.ts';

/** The pause after the last change before the preview is requested, in milliseconds. */
const debounceMs = 300;

/** Renders templates with a lead, by default with the newest one, after each change of the templates. */
export function usePreview({ body, bodyFormat, ...templates }: Omit<Preview, 'leadId'>) {
  const [leadId, setLeadId] = useState<string>();
  const [search, setSearch] = useState('');
  const [searched] = useDebouncedValue(search, debounceMs);
  const { data: leads } = useQuery(newestLeadsQuery(searched));
  // The newest lead stays chosen while the user searches another one.
  const [newest, setNewest] = useState<string>();
  const first = leads?.[0]?.id;
  if (newest === undefined && first !== undefined) setNewest(first);
  const chosen = leadId ?? newest;
  const given = JSON.stringify({ ...templates, ...(body && { body, bodyFormat }), leadId: chosen });
  const [debounced] = useDebouncedValue(given, debounceMs);
  const request = JSON.parse(debounced) as Preview;
  const isReady = request.url !== '' && chosen !== undefined;
  const { data, error } = useQuery({ ...previewQuery(request), enabled: isReady });
  return {
    leads,
    chosen,
    setLeadId,
    setSearch,
    request: isReady ? data : undefined,
    error: isReady ? error : null,
  };
}

/** The lead of the preview, and the request that it renders. */
export function PostbackPreview({ preview }: { preview: ReturnType<typeof usePreview> }) {
  const { leads, chosen, setLeadId, setSearch, request, error } = preview;
  const isFieldError = Object.keys(fieldErrorsOf(error)).length > 0;
  return (
    <Fieldset legend={t.preview}>
      <Stack gap="sm">
        {leads?.length === 0 && chosen === undefined ? (
          <Text size="sm">{t.noLeads}</Text>
        ) : (
          <Select
            label={t.previewLead}
            description={t.previewLeadHint}
            searchable
            allowDeselect={false}
            // The service has searched.
            filter={({ options }) => options}
            data={(leads ?? []).map((lead) => ({
              value: lead.id,
              label: `${lead.name}, ${texts.leads.statuses[statusOf(lead)]}`,
            }))}
            value={chosen ?? null}
            onSearchChange={(text) =>
              // The text of the chosen lead is no search.
              setSearch(leads?.some((lead) => text.startsWith(`${lead.name}, `)) === true ? '' : text)
            }
            onChange={(id) => setLeadId(id ?? undefined)}
          />
        )}
        {request !== undefined ? (
          <Code
            block
            tabIndex={0}
            role="region"
            aria-label={t.preview}
            style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
          >
            {request.method} {request.url}
            {request.body !== undefined && `\ncontent-type: ${request.contentType}\n\n${request.body}`}
          </Code>
        ) : error !== null && !isFieldError ? (
          <ErrorNotice error={error} />
        ) : (
          chosen !== undefined && (
            <Text size="sm" c="dimmed">
              {error === null ? t.previewEmpty : t.previewFailed}
            </Text>
          )
        )}
      </Stack>
    </Fieldset>
  );
}
