import type { DeliveryState, DeliveryView, EndpointKind } from '@leads/core/delivery';
import { Button, Code, Group, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useInfiniteQuery, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import {
  deliveriesKey,
  deliveriesQuery,
  type DeliveryFilter,
  deliveryQuery,
  resendDelivery,
} from '../../api/endpoints.ts';
import { leadNameQuery } from '../../api/leads.ts';
import { shownName } from '../../leads/lead-name.ts';
import { EmptyState } from '../../shell/empty-state.tsx';
import { DeliveryStateBadge } from '../../shell/delivery-state.tsx';
import { AnchorLink } from '../../shell/links.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { ExactTime } from '../../shell/relative-time.tsx';
import { ErrorNotice, QueryState } from '../../shell/states.tsx';
import { toIso, toLocal } from '../../shell/time.ts';
import { NextPageButton } from '../../shell/next-page-button.tsx';
import { useTyped } from '../../shell/use-typed.ts';
import { endpoints as t } from '../../texts/endpoints.ts';
import { isStatusCode, readDeliverySearch } from './delivery-search.ts';
import { LeadSelect } from './lead-select.tsx';

/** The pause after the last change of the filters before the deliveries are requested, in milliseconds. */
const debounceMs = 300;

const states = Object.keys(t.states) as DeliveryState[];

/** The filters as the user enters them. Times are values of `datetime-local` fields. */
type Entered = { readonly [Name in keyof DeliveryFilter]: DeliveryFilter[Name] | undefined };

/** Returns the filter for the service. An incomplete status code is left out. */
function filterOf({ state, statusCode = '', leadId, from, to }: Entered): DeliveryFilter {
  return {
    ...(state !== undefined && { state }),
    ...(isStatusCode(statusCode) && { statusCode }),
    ...(leadId !== undefined && { leadId }),
    // Without a zone, the time is in the zone of the user.
    ...(from !== undefined && { from: toIso(new Date(from)) }),
    ...(to !== undefined && { to: toIso(new Date(to)) }),
  };
}

/** Returns the values of the fields for the filters in the address. */
const enteredOf = ({ from, to, ...others }: DeliveryFilter): Entered => ({
  ...others,
  from: from && toLocal(new Date(from)),
  to: to && toLocal(new Date(to)),
});

/** The deliveries of a webhook or a postback, newest first, with their results. The address has the filters. */
export function DeliveryLog({ kind, id }: { kind: EndpointKind; id: string }) {
  const filter = readDeliverySearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  // As text, which can be compared: an incomplete status code is in no address, and stays.
  const { typed, setTyped, setSent } = useTyped(JSON.stringify(enteredOf(filter)));
  const entered = JSON.parse(typed) as Entered;
  const show = useDebouncedCallback((changed: Entered) => {
    const search = filterOf(changed);
    setSent(JSON.stringify(enteredOf(search)));
    void navigate({ to: '.', search, replace: true, resetScroll: false });
  }, debounceMs);
  const change = (changed: Entered) => {
    setTyped(JSON.stringify(changed));
    show(changed);
  };
  const query = useInfiniteQuery(deliveriesQuery(kind, id, filter));
  const deliveries = query.data?.pages.flatMap((page) => page.deliveries);
  const names = useLeadNames(deliveries?.flatMap(({ leadId }) => leadId ?? []) ?? []);
  return (
    <Stack component="section" gap="sm" aria-label={t.deliveries}>
      <div>
        <Title order={2} size="h4">
          {t.deliveries}
        </Title>
        <Text size="sm" c="dimmed">
          {t.deliveriesLead}
        </Text>
      </div>
      <Filters kind={kind} entered={entered} onChange={change} />
      <QueryState query={query} />
      {deliveries?.length === 0 &&
        (Object.keys(filter).length === 0 ? (
          <Text size="sm">{t.noDeliveries}</Text>
        ) : (
          <EmptyState text={t.noneMatch}>
            <Button variant="default" onClick={() => change({})}>
              {t.clearFilters}
            </Button>
          </EmptyState>
        ))}
      {deliveries !== undefined && deliveries.length > 0 && (
        <RecordList label={t.deliveries}>
          {deliveries.map((delivery) => (
            <Delivery
              key={delivery.id}
              delivery={delivery}
              leadName={names.get(delivery.leadId ?? '')}
              listOf={id}
            />
          ))}
        </RecordList>
      )}
      <NextPageButton query={query} label={t.loadMore} />
    </Stack>
  );
}

/** Returns the names of leads by their ids, as far as they are loaded and the user can see them. */
function useLeadNames(ids: readonly string[]): ReadonlyMap<string, string> {
  const unique = [...new Set(ids)];
  const results = useQueries({ queries: unique.map(leadNameQuery) });
  return new Map(
    unique.flatMap((id, index) => (results[index]?.data ? [[id, shownName(results[index].data)]] : [])),
  );
}

function Filters({
  kind,
  entered,
  onChange,
}: {
  kind: EndpointKind;
  entered: Entered;
  onChange: (entered: Entered) => void;
}) {
  const { state, statusCode = '', leadId, from = '', to = '' } = entered;
  // A postback only is overtaken by a newer status.
  const choices = states.filter((each) => kind === 'postback' || each !== 'superseded');
  const set = (changes: Entered) => onChange({ ...entered, ...changes });
  return (
    <Group align="flex-start" gap="sm">
      <Select
        label={t.state}
        placeholder={t.allStates}
        w={150}
        data={choices.map((value) => ({ value, label: t.states[value] }))}
        value={state ?? null}
        onChange={(value) => set({ state: states.find((each) => each === value) })}
        clearable
      />
      <TextInput
        label={t.statusCode}
        placeholder={t.anyStatusCode}
        w={110}
        inputMode="numeric"
        maxLength={3}
        value={statusCode}
        error={statusCode.length === 3 && !isStatusCode(statusCode) && t.wrongStatusCode}
        onChange={(event) => set({ statusCode: event.currentTarget.value })}
      />
      <LeadSelect
        label={t.leadFilter}
        placeholder={t.anyLead}
        clearable
        value={leadId}
        onChange={(chosen) => set({ leadId: chosen })}
      />
      <TextInput
        type="datetime-local"
        miw={0}
        label={t.from}
        max="9999-12-31T23:59"
        value={from}
        onChange={(event) => set({ from: event.currentTarget.value || undefined })}
      />
      <TextInput
        type="datetime-local"
        miw={0}
        label={t.to}
        max="9999-12-31T23:59"
        value={to}
        onChange={(event) => set({ to: event.currentTarget.value || undefined })}
      />
    </Group>
  );
}

function Delivery({
  delivery,
  leadName,
  listOf,
}: {
  delivery: DeliveryView;
  leadName: string | undefined;
  listOf: string;
}) {
  const { id, messageId, event, leadId, state, attempts, statusCode, error, durationMs } = delivery;
  const queryClient = useQueryClient();
  const resend = useMutation({
    mutationFn: () => resendDelivery(id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: deliveriesKey(listOf) }),
  });
  const result = error === undefined ? statusCode : t.errorOf(error);
  return (
    <RecordRow
      title={
        <>
          <Text fw={600}>{leadId === undefined ? t.testEvent : event}</Text>
          <DeliveryStateBadge state={state} />
        </>
      }
      facts={[
        ...(leadId === undefined
          ? []
          : [
              [
                t.leadOf,
                <AnchorLink key="lead" to="/leads" search={{ lead: leadId }} size="sm">
                  {leadName ?? leadId}
                </AnchorLink>,
              ] as const,
            ]),
        [t.created, <ExactTime key="created" at={delivery.createdAt} />],
        [t.attempts, attempts],
        ...(delivery.lastAttemptAt === undefined
          ? []
          : [[t.lastAttempt, <ExactTime key="last" at={delivery.lastAttemptAt} />] as const]),
        ...(delivery.nextAttemptAt === undefined
          ? []
          : [[t.nextAttempt, <ExactTime key="next" at={delivery.nextAttemptAt} />] as const]),
        ...(result === undefined
          ? []
          : [[t.answer, durationMs === undefined ? result : `${result}, ${t.took(durationMs)}`] as const]),
      ]}
      actions={
        state !== 'waiting' && (
          <Button
            size="xs"
            variant="default"
            loading={resend.isPending}
            aria-label={t.resendOf(messageId ?? id)}
            onClick={() => resend.mutate()}
          >
            {t.resend}
          </Button>
        )
      }
    >
      {delivery.skipReason !== undefined && <Text size="sm">{t.skipReasons[delivery.skipReason]}</Text>}
      {delivery.request !== undefined && <Sent label={t.request}>{delivery.request}</Sent>}
      {messageId !== undefined && leadId !== undefined && <WebhookRequest id={id} messageId={messageId} />}
      {delivery.answer !== undefined && <Sent label={t.answerText}>{delivery.answer}</Sent>}
      {resend.error !== null && <ErrorNotice error={resend.error} />}
    </RecordRow>
  );
}

/** A button that shows the request of an event to a webhook. The request is read when the user opens it. */
function WebhookRequest({ id, messageId }: { id: string; messageId: string }) {
  const [isOpen, setOpen] = useState(false);
  const query = useQuery({ ...deliveryQuery(id), enabled: isOpen });
  const [head, body] = query.data?.request?.split('\n\n') ?? [];
  return (
    <>
      <Button
        size="compact-sm"
        variant="subtle"
        style={{ alignSelf: 'flex-start' }}
        aria-expanded={isOpen}
        aria-label={t.showRequestOf(messageId)}
        onClick={() => setOpen(!isOpen)}
      >
        {t.showRequest}
      </Button>
      {isOpen && <QueryState query={query} />}
      {isOpen && body !== undefined && (
        <Sent label={t.request}>{`${head}\n\n${JSON.stringify(JSON.parse(body), undefined, 2)}`}</Sent>
      )}
    </>
  );
}

/** A request or an answer as text. */
function Sent({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {children}
      </Code>
    </div>
  );
}
