import { Alert, Button, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { meQuery } from '../../api/account.ts';
import { webhooksQuery } from '../../api/webhooks.ts';
import { lazyDialog } from '../../shell/lazy-dialog.tsx';
import { AnchorLink } from '../../shell/links.tsx';
import { PageHeading } from '../../shell/page-heading.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { SecretDialog, type ShownSecret } from '../../shell/secret-dialog.tsx';
import { ErrorNotice, PendingPage } from '../../shell/states.tsx';
import { webhooks as t } from '../../texts/webhooks.ts';
import { WebhookState, webhookFacts } from './webhook-state.tsx';

const WebhookDialog = lazyDialog(async () => (await import('./webhook-dialog.tsx')).WebhookDialog);

export function WebhooksPage() {
  const { workspace } = useSuspenseQuery(meQuery).data;
  const queryClient = useQueryClient();
  const [creating, { open, close }] = useDisclosure(false);
  const [secret, setSecret] = useState<ShownSecret>();
  const mayManage = workspace !== undefined && workspace.role !== 'publisher';
  return (
    <>
      <PageHeading title={t.title}>
        {mayManage && (
          <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
            {t.create}
          </Button>
        )}
      </PageHeading>
      {mayManage ? (
        <Stack maw={1100}>
          <Text size="sm" c="dimmed">
            {t.lead}
          </Text>
          <Webhooks />
        </Stack>
      ) : (
        <Alert variant="light">{t.onlyManagers}</Alert>
      )}
      {creating && (
        <WebhookDialog
          onClose={close}
          onCreated={({ webhook, secret: made }) => {
            close();
            setSecret({ title: t.createdTitle, name: webhook.url, secret: made });
            void queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
          }}
        />
      )}
      <SecretDialog shown={secret} onClose={() => setSecret(undefined)} />
    </>
  );
}

function Webhooks() {
  const { data: webhooks, error, refetch } = useQuery(webhooksQuery);
  if (webhooks === undefined) {
    return error === null ? <PendingPage /> : <ErrorNotice error={error} onRetry={() => void refetch()} />;
  }
  if (webhooks.length === 0) return <Text size="sm">{t.none}</Text>;
  return (
    <RecordList label={t.title}>
      {webhooks.map((webhook) => (
        <RecordRow
          key={webhook.id}
          title={
            <>
              <AnchorLink
                to="/webhooks/$id"
                params={{ id: webhook.id }}
                fw={600}
                style={{ overflowWrap: 'anywhere' }}
              >
                {webhook.url}
              </AnchorLink>
              <WebhookState webhook={webhook} />
            </>
          }
          facts={[
            ...(webhook.description === undefined ? [] : [[t.description, webhook.description] as const]),
            ...webhookFacts(webhook),
          ]}
        />
      ))}
    </RecordList>
  );
}
