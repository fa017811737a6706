import type { AuditEntryView } from '@leads/core/audit';
import type { MemberCredentials } from '@leads/core/credential';
import { Alert, Badge, Button, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { auditFile, auditQuery } from '../../api/audit.ts';
import { memberCredentialsQuery } from '../../api/members.ts';
import { download } from '../../shell/download.ts';
import { EmptyState } from '../../shell/empty-state.tsx';
import { IconDownload } from '../../shell/icons.tsx';
import { PageHeading } from '../../shell/page-heading.tsx';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { ExactTime } from '../../shell/relative-time.tsx';
import { ErrorNotice, QueryState } from '../../shell/states.tsx';
import { useMay } from '../../shell/use-may.ts';
import { describeClient } from '../../shell/user-agent.ts';
import { NextPageButton } from '../../shell/next-page-button.tsx';
import { audit as t } from '../../texts/audit.ts';

const choices = Object.entries(t.actions).map(([value, label]) => ({ value, label }));

export function AuditPage() {
  const [action, setAction] = useState<string>();
  const mayRead = useMay('readAudit');
  const file = useMutation({
    mutationFn: () => auditFile(action),
    gcTime: 0,
    onSuccess: (content) => download(content, `audit-${new Date().toISOString().slice(0, 10)}.csv`),
  });
  return (
    <>
      <PageHeading title={t.title}>
        {mayRead && (
          <Button
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
            loading={file.isPending}
            onClick={() => file.mutate()}
          >
            {t.download}
          </Button>
        )}
      </PageHeading>
      {mayRead ? (
        <Stack maw={1100}>
          {file.isError && <ErrorNotice error={file.error} />}
          <Text size="sm" c="dimmed">
            {t.lead}
          </Text>
          <Select
            label={t.filter}
            placeholder={t.all}
            data={choices}
            value={action ?? null}
            onChange={(value) => setAction(value ?? undefined)}
            clearable
            searchable
            maw={320}
          />
          <Entries action={action} onShowAll={() => setAction(undefined)} />
        </Stack>
      ) : (
        <Alert variant="light">{t.onlyOwners}</Alert>
      )}
    </>
  );
}

function Entries({ action, onShowAll }: { action: string | undefined; onShowAll: () => void }) {
  const query = useInfiniteQuery(auditQuery(action));
  const { data: credentials } = useQuery(memberCredentialsQuery);
  const entries = query.data?.pages.flatMap((page) => page.entries);
  return (
    <Stack component="section">
      <QueryState query={query} />
      {entries?.length === 0 && (
        <EmptyState text={action === undefined ? t.noEntries : t.noneOfAction}>
          {action !== undefined && (
            <Button variant="default" onClick={onShowAll}>
              {t.showAll}
            </Button>
          )}
        </EmptyState>
      )}
      {entries !== undefined && entries.length > 0 && (
        <RecordList label={t.title}>
          {entries.map((entry) => (
            <RecordRow
              key={entry.id}
              title={
                <>
                  <Text fw={600}>{t.actionOf(entry.action)}</Text>
                  <Badge variant="default">{t.sources[entry.source]}</Badge>
                </>
              }
              facts={factsOf(entry, credentials?.apiKeys)}
            />
          ))}
        </RecordList>
      )}
      <NextPageButton query={query} label={t.loadMore} />
    </Stack>
  );
}

function factsOf(
  { at, actorId, actorEmail, address, userAgent, apiKeyId, details }: AuditEntryView,
  keys: MemberCredentials['apiKeys'] = [],
) {
  const key = keys.find(({ id }) => id === apiKeyId);
  const values = Object.entries(details).map(([name, value]) => `${name}: ${value}`);
  const actor = actorEmail ?? actorId;
  return [
    [t.when, <ExactTime key="when" at={at} />] as const,
    ...(actor === undefined ? [] : [[t.by, actor] as const]),
    ...(address === undefined ? [] : [[t.address, address] as const]),
    ...(apiKeyId === undefined
      ? []
      : [[t.apiKey, key === undefined ? apiKeyId : t.keyOf(key.name, key.prefix)] as const]),
    ...(values.length === 0 ? [] : [[t.details, values.join(', ')] as const]),
    ...(userAgent === undefined ? [] : [[t.browser, describeClient(userAgent)] as const]),
  ];
}
