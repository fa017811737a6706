import type { EndpointKind } from '@leads/core/delivery';
import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Endpoint, postbacksQuery, webhooksQuery } from '../../api/endpoints.ts';
import { useCommands } from '../../shell/commands.ts';
import { IconPlus } from '../../shell/icons.tsx';
import { EmptyState, isActionAbove } from '../../shell/empty-state.tsx';
import { lazyDialog } from '../../shell/lazy-part.tsx';
import { AnchorLink } from '../../shell/links.tsx';
import { PageHeading } from '../../shell/page-heading.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { useSecretDialog } from '../../shell/secret-dialog.tsx';
import { QueryState } from '../../shell/states.tsx';
import { useMay } from '../../shell/use-may.ts';
import { endpoints as t } from '../../texts/endpoints.ts';
import { postbacks } from '../../texts/postbacks.ts';
import { webhooks } from '../../texts/webhooks.ts';
import { EndpointState, endpointFacts } from './endpoint-state.tsx';
import { StatusAliases } from './status-aliases.tsx';

const WebhookDialog = lazyDialog(async () => (await import('./webhook-dialog.tsx')).WebhookDialog);
const PostbackDialog = lazyDialog(async () => (await import('./postback-dialog.tsx')).PostbackDialog);

export function IntegrationsPage() {
  return (
    <>
      <PageHeading title={t.title} />
      <Integrations />
    </>
  );
}

/** The webhooks and status aliases of the workspace, for owners and managers, and the postbacks that the user manages. */
export function Integrations() {
  const managesWorkspace = useMay('manageEndpoints');
  return (
    <Stack maw={1100} gap="xl">
      <Text size="sm" c="dimmed">
        {managesWorkspace ? t.lead : t.publisherLead}
      </Text>
      {managesWorkspace && <Webhooks />}
      <Postbacks />
      {managesWorkspace && <StatusAliases />}
    </Stack>
  );
}

function Webhooks() {
  const [creating, { open, close }] = useDisclosure(false);
  useCommands([{ label: webhooks.create, run: open }]);
  const secrets = useSecretDialog();
  return (
    <Endpoints kind="webhook" texts={webhooks} query={useQuery(webhooksQuery)} onCreate={open}>
      {creating && (
        <WebhookDialog
          onClose={close}
          onCreated={({ webhook, secret: made }) =>
            secrets.show({ title: webhooks.createdTitle, name: webhook.url, secret: made })
          }
        />
      )}
      {secrets.dialog}
    </Endpoints>
  );
}

function Postbacks() {
  const [creating, { open, close }] = useDisclosure(false);
  useCommands([{ label: postbacks.create, run: open }]);
  return (
    <Endpoints kind="postback" texts={postbacks} query={useQuery(postbacksQuery)} onCreate={open}>
      {creating && <PostbackDialog onClose={close} />}
    </Endpoints>
  );
}

/** The section of the webhooks or of the postbacks. */
function Endpoints({
  kind,
  texts,
  query,
  onCreate,
  children,
}: {
  kind: EndpointKind;
  texts: Readonly<Record<'title' | 'lead' | 'none' | 'create', string>>;
  query: UseQueryResult<readonly Endpoint[]>;
  onCreate: () => void;
  children: ReactNode;
}) {
  const { data, error } = query;
  const create = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={onCreate}>
      {texts.create}
    </Button>
  );
  return (
    <Stack component="section" gap="sm" aria-label={texts.title}>
      <Group justify="space-between" align="flex-end" gap="sm">
        <div>
          <Title order={2} size="h4">
            {texts.title}
          </Title>
          <Text size="sm" c="dimmed">
            {texts.lead}
          </Text>
        </div>
        {isActionAbove(data, error) && create}
      </Group>
      <QueryState query={query} />
      {data?.length === 0 && <EmptyState text={texts.none}>{create}</EmptyState>}
      {data !== undefined && data.length > 0 && (
        <RecordList label={texts.title}>
          {data.map((endpoint) => (
            <RecordRow
              key={endpoint.id}
              title={
                <>
                  <AnchorLink
                    to={kind === 'webhook' ? '/webhooks/$id' : '/postbacks/$id'}
                    params={{ id: endpoint.id }}
                    fw={600}
                    style={{ overflowWrap: 'anywhere' }}
                  >
                    {endpoint.url}
                  </AnchorLink>
                  <EndpointState endpoint={endpoint} />
                </>
              }
              facts={endpointFacts(endpoint)}
            />
          ))}
        </RecordList>
      )}
      {children}
    </Stack>
  );
}
