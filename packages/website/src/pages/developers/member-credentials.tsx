import { Badge, Code, Stack, Text, Title } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { credentialsKey } from '../../api/credentials.ts';
import { memberCredentialsQuery, revokeMemberCredential } from '../../api/members.ts';
import { ConfirmButton } from '../../shell/confirm-button.tsx';
import { keyLimits } from '../../shell/key-limits.ts';
import { RecordList, RecordRow } from '../../shell/record-row.tsx';
import { ExactTime } from '../../shell/relative-time.tsx';
import { QueryState } from '../../shell/states.tsx';
import * as texts from '../../texts/index.ts';

const t = texts.members;

/** The active API keys and access tokens of all members. For owners and managers. */
export function MemberCredentials({ onRevoked }: { onRevoked: (id: string) => void }) {
  const queryClient = useQueryClient();
  const query = useQuery(memberCredentialsQuery);
  const { data } = query;
  if (data === undefined) return <QueryState query={query} />;
  const rows = [
    ...data.apiKeys.map((key) =>
      Object.assign(
        {
          kind: 'api-keys' as const,
          label: key.scope === 'intake' ? t.intakeKey : t.apiKey,
          limits: keyLimits(key),
        },
        key,
      ),
    ),
    ...data.accessTokens.map((token) =>
      Object.assign(
        { kind: 'access-tokens' as const, label: t.accessToken, prefix: undefined, limits: [] },
        token,
      ),
    ),
  ].filter(({ state }) => state === 'active');
  return (
    <Stack component="section" gap="sm" aria-label={t.credentials}>
      <div>
        <Title order={2} size="h4">
          {t.credentials}
        </Title>
        <Text size="sm" c="dimmed">
          {t.credentialsLead}
        </Text>
      </div>
      <QueryState query={query} />
      {rows.length === 0 && <Text size="sm">{t.noCredentials}</Text>}
      <RecordList label={t.credentials}>
        {rows.map(({ id, kind, name, prefix, label, limits, userEmail, lastUsedAt, createdAt }) => (
          <RecordRow
            key={id}
            title={
              <>
                <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                  {name}
                </Text>
                {prefix !== undefined && <Code>{prefix}…</Code>}
                <Badge variant="default">{label}</Badge>
              </>
            }
            facts={[
              [t.email, userEmail],
              [t.lastUsed, <ExactTime key="use" at={lastUsedAt} />],
              [t.created, <ExactTime key="created" at={createdAt} />],
              ...limits,
            ]}
            actions={
              <ConfirmButton
                label={t.revoke}
                name={t.revokeOf(name, userEmail)}
                title={t.revokeTitle}
                action={t.revoke}
                onConfirm={async () => {
                  await revokeMemberCredential(kind, id);
                  onRevoked(id);
                  await queryClient.invalidateQueries({ queryKey: credentialsKey });
                }}
              >
                <Text size="sm">{t.revokeLead(userEmail)}</Text>
              </ConfirmButton>
            }
          />
        ))}
      </RecordList>
    </Stack>
  );
}
