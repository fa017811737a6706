import type { WebhookView } from '@leads/core/delivery';
import { Alert, Button, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import {
  deleteWebhook,
  deliveriesKey,
  recoverDeliveries,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
  webhooksQuery,
} from '../../api/webhooks.ts';
import { ConfirmButton } from '../../shell/confirm-button.tsx';
import { DateInput } from '../../shell/date-input.tsx';
import { lazyDialog } from '../../shell/lazy-dialog.tsx';
import { AnchorLink } from '../../shell/links.tsx';
import { PageHeading } from '../../shell/page-heading.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { RelativeTime } from '../../shell/relative-time.tsx';
import { SecretDialog, type ShownSecret } from '../../shell/secret-dialog.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import { webhooks as t } from '../../texts/webhooks.ts';
import { DeliveryLog } from './delivery-log.tsx';
import { WebhookState, webhookFacts } from './webhook-state.tsx';

const dayMs = 86_400_000;

const WebhookDialog = lazyDialog(async () => (await import('./webhook-dialog.tsx')).WebhookDialog);

/** One webhook: its state, its actions, and the log of its deliveries. */
export function WebhookPage() {
  const { id } = useParams({ from: '/console/webhooks/$id' });
  const { data: webhooks, error, refetch } = useQuery(webhooksQuery);
  const webhook = webhooks?.find((each) => each.id === id);
  return (
    <>
      <AnchorLink to="/webhooks" size="sm">
        {t.back}
      </AnchorLink>
      <PageHeading title={webhook === undefined ? t.title : new URL(webhook.url).host} />
      {webhook !== undefined && (
        <Stack maw={1100} gap="lg">
          <Summary webhook={webhook} />
          <DeliveryLog webhookId={id} />
        </Stack>
      )}
      {webhook === undefined && webhooks !== undefined && <Alert variant="light">{t.notFound}</Alert>}
      {webhooks === undefined && error === null && <PendingPage />}
      {webhooks === undefined && error !== null && (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      )}
    </>
  );
}

function Summary({ webhook }: { webhook: WebhookView }) {
  const { id, url, description, enabled, disabledReason, previousSecretUntil, createdAt } = webhook;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [editing, { open, close }] = useDisclosure(false);
  const [secret, setSecret] = useState<ShownSecret>();
  const [notice, setNotice] = useState<string>();
  const reload = async () => {
    await queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
    await queryClient.invalidateQueries({ queryKey: deliveriesKey(id) });
  };
  const test = useMutation({
    mutationFn: () => testWebhook(id),
    async onSuccess() {
      setNotice(t.testSent);
      await reload();
    },
  });
  const enable = useMutation({ mutationFn: () => updateWebhook(id, { enabled: true }), onSuccess: reload });
  const error = test.error ?? enable.error;
  return (
    <RecordList label={t.title}>
      <RecordRow
        title={
          <>
            <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
              {url}
            </Text>
            <WebhookState webhook={webhook} />
          </>
        }
        facts={[
          ...(description === undefined ? [] : [[t.description, description] as const]),
          ...webhookFacts(webhook),
          ...(previousSecretUntil === undefined
            ? []
            : [[t.overlap, <RelativeTime key="overlap" at={previousSecretUntil} />] as const]),
          [t.created, <RelativeTime key="created" at={createdAt} />],
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
                title={t.disableTitle}
                action={t.disable}
                onConfirm={async () => {
                  await updateWebhook(id, { enabled: false });
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
            {enabled && <Recovery webhookId={id} onRecovered={(count) => setNotice(t.recovered(count))} />}
            <ConfirmButton
              label={t.rotate}
              title={t.rotateTitle}
              action={t.rotate}
              color="petrol"
              onConfirm={async () => {
                const { secret: made } = await rotateWebhookSecret(id);
                await reload();
                setSecret({ title: t.rotatedTitle, name: url, secret: made });
              }}
            >
              <Text size="sm">{t.rotateLead}</Text>
            </ConfirmButton>
            <ConfirmButton
              label={t.remove}
              title={t.removeTitle}
              action={t.remove}
              onConfirm={async () => {
                await deleteWebhook(id);
                await navigate({ to: '/webhooks' });
              }}
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
      {editing && <WebhookDialog webhook={webhook} onClose={close} />}
      <SecretDialog shown={secret} onClose={() => setSecret(undefined)} />
    </RecordList>
  );
}

/** The button that sends missed events again, from the beginning of a day. */
function Recovery({
  webhookId,
  onRecovered,
}: {
  webhookId: string;
  onRecovered: (deliveries: number) => void;
}) {
  const queryClient = useQueryClient();
  const [day, setDay] = useState(() => new Date(Date.now() - 3 * dayMs).toISOString().slice(0, 10));
  return (
    <ConfirmButton
      label={t.recover}
      title={t.recoverTitle}
      action={t.recover}
      color="petrol"
      onConfirm={async () => {
        // Without a zone, the time is in the zone of the user.
        onRecovered(await recoverDeliveries(webhookId, new Date(`${day}T00:00:00`)));
        await queryClient.invalidateQueries({ queryKey: deliveriesKey(webhookId) });
      }}
    >
      <Stack>
        <Text size="sm">{t.recoverLead}</Text>
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
