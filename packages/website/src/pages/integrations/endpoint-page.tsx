import type { EndpointKind } from '@leads/core/delivery';
import { Alert, Button, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import {
  deleteEndpoint,
  deliveriesKey,
  type Endpoint,
  endpointsKey,
  postbacksQuery,
  recoverDeliveries,
  rotateWebhookSecret,
  testEndpoint,
  updateEndpoint,
  webhooksQuery,
} from '../../api/endpoints.ts';
import { ConfirmButton } from '../../shell/confirm-button.tsx';
import { DateInput } from '../../shell/date-input.tsx';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import { AnchorLink } from '../../shell/links.tsx';
import { PageHeading } from '../../shell/page-heading.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { ExactTime } from '../../shell/relative-time.tsx';
import { useSecretDialog } from '../../shell/secret-dialog.tsx';
import { ErrorNotice, QueryState } from '../../shell/states.tsx';
import { toLocal } from '../../shell/time.ts';
import { UserError } from '../../shell/user-error.ts';
import { endpoints as t } from '../../texts/endpoints.ts';
import { postbacks } from '../../texts/postbacks.ts';
import { webhooks } from '../../texts/webhooks.ts';
import { DeliveryLog } from './delivery-log.tsx';
import { EndpointState, endpointFacts } from './endpoint-state.tsx';

const dayMs = 86_400_000;

const WebhookDialog = lazyDialog(async () => (await import('./webhook-dialog.tsx')).WebhookDialog);
const PostbackDialog = lazyDialog(async () => (await import('./postback-dialog.tsx')).PostbackDialog);

/** One webhook. */
export function WebhookPage() {
  const { id } = useParams({ from: '/console/webhooks/$id' });
  return <EndpointPage key={id} id={id} kind="webhook" query={useQuery(webhooksQuery)} />;
}

/** One postback. */
export function PostbackPage() {
  const { id } = useParams({ from: '/console/postbacks/$id' });
  return <EndpointPage key={id} id={id} kind="postback" query={useQuery(postbacksQuery)} />;
}

interface EndpointOfKind {
  readonly kind: EndpointKind;
  readonly id: string;
}

/** One endpoint: its state, its actions, and the log of its deliveries. */
function EndpointPage({ kind, id, query }: EndpointOfKind & { query: UseQueryResult<readonly Endpoint[]> }) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: () => deleteEndpoint(kind, id),
    // Not awaited: until the user is on the list, this page would say that the endpoint does not exist.
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: endpointsKey }),
  });
  const { data: endpoints } = query;
  const endpoint = endpoints?.find((each) => each.id === id);
  const title = kind === 'webhook' ? webhooks.title : postbacks.title;
  return (
    <>
      <AnchorLink to="/integrations" size="sm">
        {t.back}
      </AnchorLink>
      <PageHeading title={endpoint === undefined ? title : new URL(endpoint.url).host} />
      <QueryState query={query} />
      {endpoint !== undefined && (
        <Stack maw={1100} gap="lg">
          <Summary
            kind={kind}
            endpoint={endpoint}
            // The callback is not called after the page is left.
            onDelete={() =>
              remove.mutateAsync(undefined, { onSuccess: () => void navigate({ to: '/integrations' }) })
            }
          />
          <DeliveryLog kind={kind} id={id} />
        </Stack>
      )}
      {endpoint === undefined && endpoints !== undefined && <Alert variant="light">{t.notFound(kind)}</Alert>}
    </>
  );
}

function Summary({
  kind,
  endpoint,
  onDelete,
}: {
  kind: EndpointKind;
  endpoint: Endpoint;
  onDelete: () => Promise<unknown>;
}) {
  const { id, url, enabled, disabledReason, createdAt } = endpoint;
  const queryClient = useQueryClient();
  const [editing, { open, close }] = useDisclosure(false);
  const secrets = useSecretDialog();
  const [notice, setNotice] = useState<string>();
  const reload = async () => {
    await queryClient.invalidateQueries({ queryKey: endpointsKey });
    await queryClient.invalidateQueries({ queryKey: deliveriesKey(id) });
  };
  const test = useMutation({
    mutationFn: () => testEndpoint(kind, id),
    async onSuccess() {
      setNotice(t.testSent);
      await reload();
    },
  });
  const enable = useMutation({
    mutationFn: () => updateEndpoint(kind, id, { enabled: true }),
    onSuccess: reload,
  });
  const error = test.error ?? enable.error;
  const previousSecretUntil = 'events' in endpoint ? endpoint.previousSecretUntil : undefined;
  return (
    <RecordList label={kind === 'webhook' ? webhooks.title : postbacks.title}>
      <RecordRow
        title={
          <>
            <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
              {url}
            </Text>
            <EndpointState endpoint={endpoint} />
          </>
        }
        facts={[
          ...endpointFacts(endpoint),
          ...(previousSecretUntil === undefined
            ? []
            : [[webhooks.overlap, <ExactTime key="overlap" at={previousSecretUntil} />] as const]),
          [t.created, <ExactTime key="created" at={createdAt} />],
        ]}
        actions={
          <>
            {enabled && (
              <Button
                size="xs"
                loading={test.isPending}
                onClick={() => {
                  setNotice(undefined);
                  test.mutate();
                }}
              >
                {t.test}
              </Button>
            )}
            <Button size="xs" variant="default" onClick={open}>
              {t.edit}
            </Button>
            {enabled ? (
              <ConfirmButton
                label={t.disable}
                title={t.disableTitle(kind)}
                action={t.disable}
                onConfirm={async () => {
                  await updateEndpoint(kind, id, { enabled: false });
                  await reload();
                }}
              >
                <Text size="sm">{t.disableLead}</Text>
              </ConfirmButton>
            ) : (
              <Button size="xs" loading={enable.isPending} onClick={() => enable.mutate()}>
                {t.enable}
              </Button>
            )}
            {enabled && (
              <Recovery kind={kind} id={id} onRecovered={(count) => setNotice(t.recovered(count))} />
            )}
            {kind === 'webhook' && (
              <ConfirmButton
                label={webhooks.rotate}
                title={webhooks.rotateTitle}
                action={webhooks.rotate}
                color="petrol"
                isSecret
                onConfirm={async () => {
                  const { secret: made } = await rotateWebhookSecret(id);
                  secrets.show({ title: webhooks.rotatedTitle, name: url, secret: made });
                  // Not awaited: the secret would be lost if the user left the page while the endpoint loads.
                  void reload();
                }}
              >
                <Text size="sm">{webhooks.rotateLead}</Text>
              </ConfirmButton>
            )}
            <ConfirmButton
              label={t.remove}
              title={t.removeTitle(kind)}
              action={t.remove}
              onConfirm={onDelete}
            >
              <Text size="sm">{t.removeLead}</Text>
            </ConfirmButton>
          </>
        }
      >
        {disabledReason !== undefined && (
          <Alert variant="light" color="yellow">
            {t.disabledReasons[disabledReason]} {t.disabledHint}
          </Alert>
        )}
        {notice !== undefined && (
          <Alert variant="light" role="status">
            {notice}
          </Alert>
        )}
        {error !== null && <ErrorNotice error={error} />}
      </RecordRow>
      {editing &&
        ('events' in endpoint ? (
          <WebhookDialog webhook={endpoint} onClose={close} />
        ) : (
          <PostbackDialog postback={endpoint} onClose={close} />
        ))}
      {secrets.dialog}
    </RecordList>
  );
}

/** The button that sends missed events again, from the beginning of a day. */
function Recovery({ kind, id, onRecovered }: EndpointOfKind & { onRecovered: (deliveries: number) => void }) {
  const queryClient = useQueryClient();
  const [day, setDay] = useState(() => toLocal(new Date(Date.now() - 3 * dayMs)).slice(0, 10));
  return (
    <ConfirmButton
      label={t.recover}
      title={t.recoverTitle}
      action={t.recover}
      color="petrol"
      onConfirm={async () => {
        if (day === '') throw new UserError(t.notRecovered, t.recoverStep);
        // Without a zone, the time is in the zone of the user.
        onRecovered(await recoverDeliveries(kind, id, new Date(`${day}T00:00:00`)));
        await queryClient.invalidateQueries({ queryKey: deliveriesKey(id) });
      }}
    >
      <Stack>
        <Text size="sm">{t.recoverLead[kind]}</Text>
        <DateInput
          label={t.recoverSince}
          required
          value={day}
          onChange={(event) => setDay(event.currentTarget.value)}
        />
      </Stack>
    </ConfirmButton>
  );
}
