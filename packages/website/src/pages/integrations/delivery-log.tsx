import type { DeliveryState, DeliveryView, EndpointKind } from '@leads/core/delivery';
import { Button, Code, Group, Select, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { deliveriesKey, deliveriesQuery, deliveryQuery, resendDelivery } from '../../api/endpoints.ts';
import { DeliveryStateBadge } from '../../shell/delivery-state.tsx';
import { AnchorLink } from '../../shell/links.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { RelativeTime } from '../../shell/relative-time.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import { endpoints as t } from '../../texts/endpoints.ts';

const states = Object.keys(t.states) as DeliveryState[];

/** The deliveries of a webhook or a postback, newest first, with their results. */
export function DeliveryLog({ kind, id }: { kind: EndpointKind; id: string }) {
  const [state, setState] = useState<DeliveryState>();
  const query = useInfiniteQuery(deliveriesQuery(kind, id, state));
  const deliveries = query.data?.pages.flatMap((page) => page.deliveries);
  // A postback only is overtaken by a newer status.
  const choices = states.filter((each) => kind === 'postback' || each !== 'superseded');
  return (
    <Stack component="section" gap="sm" aria-label={t.deliveries}>
      <Group justify="space-between" align="flex-end">
        <div>
          <Title order={2} size="h4">
            {t.deliveries}
          </Title>
          <Text size="sm" c="dimmed">
            {t.deliveriesLead}
          </Text>
        </div>
        <Select
          label={t.state}
          placeholder={t.allStates}
          data={choices.map((value) => ({ value, label: t.states[value] }))}
          value={state ?? null}
          onChange={(value) => setState(states.find((each) => each === value))}
          clearable
        />
      </Group>
      {query.error !== null && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {deliveries === undefined && query.error === null && <PendingPage />}
      {deliveries?.length === 0 && <Text size="sm">{t.noDeliveries}</Text>}
      {deliveries !== undefined && deliveries.length > 0 && (
        <RecordList label={t.deliveries}>
          {deliveries.map((delivery) => (
            <Delivery key={delivery.id} delivery={delivery} listOf={id} />
          ))}
        </RecordList>
      )}
      {query.hasNextPage && (
        <Button
          variant="default"
          loading={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          {t.loadMore}
        </Button>
      )}
    </Stack>
  );
}

function Delivery({ delivery, listOf }: { delivery: DeliveryView; listOf: string }) {
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
                  {leadId}
                </AnchorLink>,
              ] as const,
            ]),
        [t.created, <RelativeTime key="created" at={delivery.createdAt} />],
        [t.attempts, attempts],
        ...(delivery.lastAttemptAt === undefined
          ? []
          : [[t.lastAttempt, <RelativeTime key="last" at={delivery.lastAttemptAt} />] as const]),
        ...(delivery.nextAttemptAt === undefined
          ? []
          : [[t.nextAttempt, <RelativeTime key="next" at={delivery.nextAttemptAt} />] as const]),
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
  const { data, error } = useQuery({ ...deliveryQuery(id), enabled: isOpen });
  const [head, body] = data?.request?.split('\n\n') ?? [];
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
      {isOpen && error !== null && <ErrorNotice error={error} />}
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
